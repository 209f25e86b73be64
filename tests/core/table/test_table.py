"""The private table: every source gives the same codes, and nothing raw is kept."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import DeskError
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Attribute, Booleans, Categories, Dates, Domain, Integers, Reals
from core.table.formats.identifiers import quote
from core.table.table import Column, Table, inspect
from tests.core.table.people import labelled, people, schema, written

EVIL = 'a"; DROP TABLE taken; --'
NAMES = ["select", "two words", 'quo"te', "it's", "ünïcødé 統計", "__proto__", EVIL, "c0", "C0", "a.b", "--", "?", "$1"]


def test_every_source_gives_the_same_codes(sources: dict[str, object]) -> None:
    expected = labelled(people(), schema())
    for name, where in sources.items():
        loaded = Table.load(where, schema(), Unit.row(), Noise())  # type: ignore[arg-type]
        for column in schema().names:
            assert loaded.codes[column].tolist() == expected[column].tolist(), (name, column)
            assert loaded.codes[column].dtype == schema()[column].dtype
        assert loaded.misfits["town"] == (people()["town"] == "Dd").sum()
        assert loaded.misfits["age"] == (~people()["age"].between(0, 99)).sum()
        assert loaded.misfits["grade"] == (people()["grade"] == 4).sum()
        assert loaded.misfits["ill"] == 0


@pytest.mark.exhaustive
def test_inspect_gives_names_and_types_only(sources: dict[str, object]) -> None:
    names = list(people().columns)
    for where in sources.values():
        assert [column.name for column in inspect(where)] == names  # type: ignore[arg-type]
    assert {column.type for column in inspect(sources["csv"])} == {"VARCHAR"}  # type: ignore[arg-type]
    kinds = ["BIGINT", "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "BIGINT", "DOUBLE"]
    assert [column.type.split("_")[0] for column in inspect(sources["parquet"])] == kinds  # type: ignore[arg-type]
    assert [column.type for column in inspect(people())] == kinds
    assert inspect(people())[0] == Column("id", "BIGINT") == ("id", "BIGINT")


def test_the_values_of_an_enum_are_not_shown(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "e.duckdb")) as engine:
        engine.execute("CREATE TABLE t (e ENUM ('secret'), d DECIMAL(9, 2)); INSERT INTO t VALUES ('secret', 1.5)")
    assert inspect((tmp_path / "e.duckdb", "t")) == (("e", "ENUM"), ("d", "DECIMAL"))
    domain = Domain((Categories(name="e", values=("x", "secret")), Reals(name="d", low=0, high=2, bins=2)))
    loaded = Table.load((tmp_path / "e.duckdb", "t"), domain, Unit.row(), Noise())
    assert (loaded.codes["e"].tolist(), loaded.codes["d"].tolist()) == ([1], [1])


def test_the_number_of_rows_is_public_only_where_it_cannot_change(sources: dict[str, object]) -> None:
    units = {Unit.row(): None, Unit.row("replace"): 2000, Unit.id("id", 3, "replace"): None}
    for unit, expected in units.items():
        assert Table.load(sources["parquet"], schema(), unit, Noise()).public_rows == expected  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_names_never_become_sql(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: [place % 2, 1, 0] for place, name in enumerate(NAMES)})
    domain = Domain(tuple(Booleans(name=name) for name in reversed(NAMES)))
    frame.to_csv(tmp_path / "names.csv", index=False)
    frame.to_parquet(tmp_path / "names.parquet")
    with duckdb.connect(str(tmp_path / "names.duckdb")) as engine:
        engine.register("frame", frame.drop(columns="C0"))
        engine.execute(f"CREATE TABLE {quote(EVIL)} AS SELECT * FROM frame")
        engine.execute("CREATE TABLE taken AS SELECT 1 AS one")
    for where in (frame, tmp_path / "names.csv", tmp_path / "names.parquet"):
        loaded = Table.load(where, domain, Unit.id(EVIL, 5), Noise())
        assert [column.name for column in inspect(where)] == NAMES
        for place, name in enumerate(NAMES):
            assert loaded.codes[name].tolist() == [place % 2, 1, 0]
    stored = (tmp_path / "names.duckdb", EVIL)
    kept = [name for name in NAMES if name != "C0"]
    loaded = Table.load(stored, domain.project(kept), Unit.row(), Noise())
    assert loaded.codes["__proto__"].tolist() == [NAMES.index("__proto__") % 2, 1, 0]
    with duckdb.connect(str(tmp_path / "names.duckdb")) as engine:
        assert engine.execute("SELECT one FROM taken").fetchall() == [(1,)]


def test_file_names_with_patterns_mean_one_file(tmp_path: Path) -> None:
    for name in ("a*.csv", "a[1].csv", "a?.csv", "ab.csv", 'it\'s "x".csv'):
        (tmp_path / name).write_text("x\n1\n")
        assert Table.load(tmp_path / name, Domain((Booleans(name="x"),)), Unit.row(), Noise()).rows == 1
    for name in ("a*.parquet", "k=1[x].parquet"):
        pd.DataFrame({"x": [1]}).to_parquet(tmp_path / name)
        assert Table.load(tmp_path / name, Domain((Booleans(name="x"),)), Unit.row(), Noise()).rows == 1


number_texts = st.one_of(
    st.floats().map(repr),
    st.integers().map(str),
    st.text(st.sampled_from("0123456789+-.eE_ \t,xnaif"), max_size=6),
    st.sampled_from(["inf", "-Infinity", "NaN", "1e999", "١", "\u00a07", "7\u00a0", "1_0", "0x1", "true", "", " "]),
)


@pytest.mark.exhaustive
@given(texts=st.lists(number_texts.filter(lambda text: "\0" not in text), min_size=1, max_size=30))
@settings(max_examples=25, deadline=None)
def test_numbers_in_text_are_read_alike_by_duckdb_and_by_the_schema(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    attributes: list[Attribute] = [
        Integers(name="n", low=-5, high=5, missing=True),
        Integers(name="n", low=-5, high=5),
        Reals(name="n", low=-1, high=1, bins=9, missing=True),
    ]
    pd.DataFrame({"n": texts}).to_parquet(folder / "n.parquet")
    for attribute in attributes:
        loaded = Table.load(folder / "n.parquet", Domain((attribute,)), Unit.row(), Noise())
        codes, misfits = attribute.encode(texts)
        assert loaded.codes["n"].tolist() == codes.tolist()
        assert loaded.misfits["n"] == misfits.sum()


def test_every_storage_type_of_duckdb(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "types.duckdb")) as engine:
        engine.execute(
            """CREATE TABLE t AS SELECT 7::TINYINT AS a, 7::UBIGINT AS b, 7::HUGEINT AS c, 7.0::DECIMAL(9, 3) AS d,
            7::FLOAT AS e, '7' AS f, TRUE AS g, DATE '2020-01-03' AS h, TIMESTAMP '2020-01-03 23:00' AS i,
            TIMESTAMPTZ '2020-01-03 10:00+00' AS j, 'infinity'::DATE AS k, '-infinity'::TIMESTAMP AS l,
            7.0::DOUBLE AS m, '2020-01-03 10:00:00' AS n,
            TIME '10:00' AS o, 'x'::BLOB AS p, uuid() AS q, 7::BIGINT AS r"""
        )
        engine.execute("INSERT INTO t (a) VALUES (NULL)")
    number = {"low": 0, "high": 9, "missing": True}
    day = {"low": "2020-01-01", "high": "2020-01-05", "missing": True}
    columns: list[Attribute] = [Integers(name=name, **number) for name in "abcdefg"]
    columns += [Dates(name=name, **day) for name in "hijkln"]
    columns += [Categories(name="m", values=("6", "7"), missing=True)]
    columns += [Categories(name="r", values=(6, 7), missing=True)]
    columns += [Integers(name=name, **number) for name in "opq"]
    loaded = Table.load((tmp_path / "types.duckdb", "t"), Domain(tuple(columns)), Unit.row(), Noise())
    found = {name: codes.tolist() for name, codes in loaded.codes.items()}
    assert found == {
        **{name: [7, 10] for name in "abcdef"}, "g": [1, 10], **{name: [2, 5] for name in "hijn"}, "k": [4, 5],
        "l": [0, 5], "m": [1, 2], "r": [1, 2], **{name: [10, 10] for name in "opq"},
    }  # fmt: skip
    assert {name for name, count in loaded.misfits.items() if count} == set("klopq")


@pytest.mark.exhaustive
def test_fingerprints(sources: dict[str, object], tmp_path: Path) -> None:
    def of(where: object, domain: Domain) -> str:
        return Table.load(where, domain, Unit.row(), Noise()).fingerprint  # type: ignore[arg-type]

    narrow = schema().project(["age"])
    for where in sources.values():
        assert of(where, schema()) == of(where, narrow)
        assert len(of(where, narrow)) == 64
    changed = people()
    changed.loc[5, "unused"] = 0.25
    assert of(changed, narrow) != of(people(), narrow)
    assert of(changed.rename(columns={"unused": "u"}), narrow) != of(changed, narrow)
    shuffled = pd.DataFrame({"age": [1, 2, 1]}), pd.DataFrame({"age": [1, 1, 2]})
    assert of(shuffled[0], narrow) != of(shuffled[1], narrow)
    again = written(people(), tmp_path)
    assert of(again["duckdb"], narrow) == of(sources["duckdb"], narrow)
    assert of(again["csv"], narrow) == of(sources["csv"], narrow)


def test_errors_of_the_engine_are_not_even_kept_as_context(tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\nsecret-cell\n")
    with pytest.raises(DeskError) as problem:
        Table.load(tmp_path / "ragged.csv", Domain((Booleans(name="a"),)), Unit.row(), Noise())
    assert problem.value.__context__ is None
    assert problem.value.__cause__ is None
    assert "secret" not in str(problem.value)
