"""The private table: every source gives the same codes, counts are exact, limits hold, nothing raw is kept."""

from __future__ import annotations

import itertools
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadFile, BadParameter, BadSchema, DeskError, Refused
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Attribute, Booleans, Categories, Dates, Domain, Integers, Reals
from core.table import contribution_limit, counting
from core.table.counts import Counts
from core.table.formats.identifiers import quote
from core.table.table import Column, Table, inspect

EVIL = 'a"; DROP TABLE taken; --'
NAMES = ["select", "two words", 'quo"te', "it's", "ünïcødé 統計", "__proto__", EVIL, "c0", "C0", "a.b", "--", "?", "$1"]


def people(rows: int = 2000) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "id": draw.integers(0, rows // 4, rows),
            "town": draw.choice(["Aa", "Bb", "Cc", "Dd", None], rows),
            "age": draw.integers(-5, 130, rows),
            "weight": np.where(draw.random(rows) < 0.1, np.nan, draw.normal(70, 30, rows).round(2)),
            "ill": draw.random(rows) < 0.2,
            "seen": pd.Timestamp("2019-12-01") + pd.to_timedelta(draw.integers(0, 500, rows), unit="D"),
            "grade": draw.integers(0, 5, rows),
            "unused": draw.random(rows),
        }
    )


def schema() -> Domain:
    return Domain(
        (
            Categories(name="town", values=("Aa", "Bb", "Cc"), other="elsewhere", missing=True),
            Integers(name="age", low=0, high=99, bins=10),
            Reals(name="weight", low=0, high=150, bins=16, missing=True),
            Booleans(name="ill"),
            Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=12),
            Categories(name="grade", values=(0, 1, 2, 3), missing=True),
        )
    )


def written(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    frame.to_csv(folder / "people.csv", index=False)
    frame.to_csv(folder / "people.tsv", index=False, sep="\t")
    frame.to_csv(folder / "semicolon.txt", index=False, sep=";")
    frame.to_csv(folder / "bom.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
    frame.to_parquet(folder / "people.parquet")
    with duckdb.connect(str(folder / "people.duckdb")) as engine:
        engine.register("frame", frame)
        engine.execute('CREATE TABLE "the people" AS SELECT * FROM frame')
    return {
        "frame": frame,
        "csv": folder / "people.csv",
        "tsv": str(folder / "people.tsv"),
        "semicolon": folder / "semicolon.txt",
        "bom": folder / "bom.csv",
        "parquet": folder / "people.parquet",
        "duckdb": (folder / "people.duckdb", "the people"),
    }


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return written(people(), tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="module")
def table(sources: dict[str, object]) -> Table:
    return Table.load(sources["csv"], schema(), Unit.row(), Noise())  # type: ignore[arg-type]


def labelled(frame: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """The codes by plain pandas, written independently of `encode`."""
    town = frame["town"].map({"Aa": 0, "Bb": 1, "Cc": 2, "Dd": 3}).fillna(4)
    weight = np.floor(frame["weight"].clip(0, 149.99) / (150 / 16)).fillna(16)
    first, last = pd.Timestamp("2020-01-01"), pd.Timestamp("2020-12-31")
    days = (frame["seen"].clip(first, last) - first).dt.days
    starts = [366 * month // 12 for month in range(12)]
    codes = {
        "town": town,
        "age": frame["age"].clip(0, 99) // 10,
        "weight": weight,
        "ill": frame["ill"],
        "seen": pd.Series(np.digitize(days, starts) - 1, index=frame.index),
        "grade": frame["grade"],
    }
    return pd.DataFrame(codes)[list(domain.names)].astype(int)


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


@pytest.mark.exhaustive
def test_marginals_equal_pandas(table: Table) -> None:
    counts: Counts = table
    expected = labelled(people(), schema())
    for order in (1, 2, 3):
        for columns in itertools.combinations(table.domain.names, order):
            grouped = expected.groupby(list(columns)).size()
            marginal = counts.marginal(columns)
            assert marginal.dtype == np.int64
            assert marginal.shape == table.domain.shape(columns)
            assert marginal.sum() == len(expected)
            keys = np.array([np.atleast_1d(key) for key in grouped.index])
            assert marginal[tuple(keys.T)].tolist() == grouped.tolist()
            points, sizes = counts.combinations(columns)
            assert points.tolist() == keys.tolist()
            assert sizes.tolist() == grouped.tolist()
    assert counts.marginal(()).shape == ()
    assert counts.marginal(()) == len(expected)
    assert counts.marginal(("ill", "age")).tolist() == counts.marginal(("age", "ill")).T.tolist()
    points, sizes = counts.combinations(())
    assert points.shape == (1, 0)
    assert sizes.tolist() == [len(expected)]


@given(sizes=st.lists(st.integers(1, 300), min_size=1, max_size=4), rows=st.integers(0, 400), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_counting_agrees_with_numpy(sizes: list[int], rows: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, size, rows).astype(np.min_scalar_type(size - 1)) for size in sizes]
    points, often = counting.occurring(columns, sizes, rows)
    expected, counts = np.unique(np.stack(columns, axis=1).astype(int), axis=0, return_counts=True)
    assert points.tolist() == expected.tolist()
    assert often.tolist() == counts.tolist()
    if np.prod(sizes) < 100_000:
        table = counting.histogram(columns, sizes, rows)
        assert table[tuple(points.T)].tolist() == often.tolist()
        assert table.sum() == rows


def test_counting_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    columns = [draw.integers(0, 5, 1001).astype(np.uint8), draw.integers(0, 3, 1001).astype(np.uint8)]
    whole = counting.histogram(columns, (5, 3), 1001)
    monkeypatch.setattr(counting, "BLOCK", 7)
    assert (counting.histogram(columns, (5, 3), 1001) == whole).all()


def test_points_of_a_universe_beyond_64_bits() -> None:
    domain = Domain(tuple(Integers(name=f"n{place}", low=0, high=999) for place in range(40)))
    codes = np.random.default_rng(2).integers(0, 1000, (300, 40))
    codes[150:] = codes[:150]
    loaded = Table.load(pd.DataFrame(codes, columns=domain.names), domain, Unit.row(), Noise())
    points, counts = loaded.combinations(domain.names)
    assert points.tolist() == np.unique(codes, axis=0).tolist()
    assert (counts == 2).all()
    with pytest.raises(Refused, match="1,000,000,000"):
        loaded.marginal(["n1", "n2", "n3"])
    with pytest.raises(BadSchema, match="nobody"):
        loaded.marginal(["nobody"])


def test_intervals_and_totals(table: Table) -> None:
    ages = labelled(people(), schema())["age"]
    assert table.interval("age", 2, 5) == ages.between(2, 5).sum()
    assert table.interval("age", 0, 9) == table.rows
    assert table.total_of("age") == ages.sum()
    weights = labelled(people(), schema())["weight"]
    assert table.total_of("weight") == weights[weights < 16].sum()
    for low, high in ((-1, 3), (3, 10), (5, 4)):
        with pytest.raises(BadParameter, match="age"):
            table.interval("age", low, high)


def test_the_number_of_rows_is_public_only_where_it_cannot_change(sources: dict[str, object]) -> None:
    units = {Unit.row(): None, Unit.row("replace"): 2000, Unit.id("id", 3, "replace"): None}
    for unit, expected in units.items():
        assert Table.load(sources["parquet"], schema(), unit, Noise()).public_rows == expected  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_at_most_limit_rows_per_id(sources: dict[str, object]) -> None:
    frame = people()
    for name in ("frame", "csv", "parquet", "duckdb"):
        for limit in (1, 3, 1000):
            loaded = Table.load(sources[name], schema(), Unit.id("id", limit), Noise())  # type: ignore[arg-type]
            kept = frame.groupby("id").size().clip(upper=limit).sum()
            assert loaded.rows == kept
            assert loaded.dropped_rows == len(frame) - kept
            assert sum(loaded.marginal(["age"])) == kept
            assert "id" not in loaded.codes


def test_the_kept_rows_are_chosen_uniformly() -> None:
    owners = np.repeat(np.arange(4000), 5)
    kept = contribution_limit.keep_smallest(owners, Noise().keys(len(owners)), 2)
    assert (np.diff(kept) > 0).all()
    assert (np.bincount(owners[kept]) == 2).all()
    counts = np.bincount(kept % 5, minlength=5)
    assert ((counts - 1600) ** 2 / 1600).sum() < 25  # chi-square with 4 degrees of freedom, far below 1 in 10,000


@given(
    rows=st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 2**64 - 1) | st.integers(0, 3)), max_size=40),
    limit=st.integers(1, 4),
)
def test_rows_are_kept_by_their_whole_keys(rows: list[tuple[int, int]], limit: int) -> None:
    owners = np.array([owner for owner, _ in rows], dtype=np.intp)
    keys = np.array([key for _, key in rows], dtype=np.uint64)
    smallest = [
        place
        for place, (owner, key) in enumerate(rows)
        if owner >= 0
        and sum((other, at) < (key, place) for at, (whose, other) in enumerate(rows) if whose == owner) < limit
    ]
    assert contribution_limit.keep_smallest(owners, keys, limit).tolist() == smallest


def test_one_more_id_changes_only_its_own_rows() -> None:
    keys = Noise().keys(600)
    owners = np.random.default_rng(1).integers(0, 50, 600)
    everyone = contribution_limit.keep_smallest(owners, keys, 4)
    rows = np.flatnonzero(owners != 17)
    others = rows[contribution_limit.keep_smallest(owners[rows], keys[rows], 4)]
    assert set(everyone[owners[everyone] != 17]) == set(others)


def test_rows_without_an_id_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text('id,ill\n1,1\n1,1\n,1\n"",1\n 1,1\n01,1\n')
    domain = Domain((Booleans(name="ill"),))
    loaded = Table.load(tmp_path / "ids.csv", domain, Unit.id("id", 1), Noise())
    assert (loaded.rows, loaded.dropped_rows) == (3, 3)  # '1', ' 1' and '01' are different ids
    frame = pd.DataFrame({"id": [3, "3", None, 3.0, ""], "ill": True})
    assert Table.load(frame, domain, Unit.id("id", 1), Noise()).rows == 1
    with pytest.raises(BadFile, match="'id'"):
        Table.load(pd.DataFrame({"id": [None], "ill": [True]}), domain, Unit.id("id", 1), Noise())


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


def test_a_table_counted_before_is_not_counted_again_and_cannot_be_spoiled(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = table.marginal(["town", "ill"])
    expected = first.copy()
    monkeypatch.setattr(counting, "histogram", lambda *_: pytest.fail("counted again"))
    first[:] = -1
    for _ in range(2):
        again = table.marginal(("town", "ill"))
        assert np.array_equal(again, expected)
        again[:] = -1


def test_few_tables_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_KEPT", 10)
    kept, counts = counting.CountMemory(), np.arange(4)
    kept.keep(["large"], np.arange(11), rows=10**6)
    kept.keep(["few rows"], counts, rows=4 * counting.WORTH - 1)
    kept.keep(["a"], counts, rows=4 * counting.WORTH)
    kept.keep(["b"], counts, rows=10**6)
    assert [kept.find([name]) is not None for name in ("large", "few rows", "a", "b")] == [False, False, True, True]
    kept.keep(["c"], counts, rows=10**6)
    assert [kept.find([name]) is not None for name in ("a", "b", "c")] == [False, False, True]
