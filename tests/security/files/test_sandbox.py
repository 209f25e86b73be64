"""DuckDB in its cage: nothing in a file, a name or a view reaches another file, the network or the configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from core.base.errors import BadFile, DeskError
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table import source
from core.table.formats import duckdb_rows, duckdb_tables, engine
from core.table.formats.engine import lock
from core.table.formats.identifiers import quote
from core.table.source import stored_tables
from core.table.table import Table, inspect
from tests.security.files.intake import Way, take_in

SECRET = "canary-7c1f"
AB = Domain((Integers(name="a", low=0, high=9, missing=True), Categories(name="b", values=("x", SECRET), other="else")))


def load(where: object, domain: Domain = AB) -> Table:
    return Table.load(where, domain, Unit.row(), Noise())  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file that nobody gave away; it must be the same afterwards."""
    (tmp_path / "private.csv").write_text(f"a,b\n1,{SECRET}\n")
    (tmp_path / "given").mkdir()
    before = os.listdir(tmp_path)
    yield tmp_path
    assert os.listdir(tmp_path) == before
    assert (tmp_path / "private.csv").read_text() == f"a,b\n1,{SECRET}\n"


def sources(folder: Path) -> list[object]:
    """The same two rows as text, Parquet and a DuckDB table."""
    frame, given = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), folder / "given"
    frame.to_csv(given / "rows.csv", index=False)
    frame.to_parquet(given / "rows.parquet")
    with duckdb.connect(str(given / "rows.duckdb")) as engine:
        engine.execute("CREATE TABLE t AS SELECT * FROM frame")
    return [given / "rows.csv", given / "rows.parquet", (given / "rows.duckdb", "t")]


# Statements.


def statements(folder: Path) -> list[str]:
    private = folder / "private.csv"
    return [
        f"SELECT * FROM '{private}'",
        f"SELECT * FROM read_text('{private}')",
        f"SELECT * FROM glob('{folder}/*')",
        f"COPY taken TO '{folder}/stolen.csv'",
        f"ATTACH '{folder}/stolen.duckdb' AS stolen",
        f"EXPORT DATABASE '{folder}/stolen'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access=true",
        f"SET temp_directory='{folder}'",
        "SET memory_limit='1TB'",
        "SELECT * FROM frame",
    ]


def refused(engine: duckdb.DuckDBPyConnection, attempts: list[str]) -> int:
    frame = pd.DataFrame({"a": [1]})
    assert len(frame) == 1, "a variable that an engine without limits finds by its name"
    count = 0
    for attempt in attempts:
        try:
            engine.execute(attempt)
        except duckdb.Error:
            count += 1
    return count


def test_twelve_of_twelve_statements_are_refused(folder: Path) -> None:
    for where in sources(folder):
        with source.opened(where) as rows:  # type: ignore[arg-type]
            assert rows.take(["a"]) == 2
            engine = rows._engine  # type: ignore[attr-defined]
            assert refused(engine, statements(folder)) == 12
            settings = "SELECT current_setting('temp_directory'), current_setting('python_enable_replacements')"
            assert engine.execute(settings).fetchall() == [("", False)]


def test_an_engine_without_a_cage_runs_them(tmp_path: Path) -> None:
    (tmp_path / "private.csv").write_text("a,b\n1,x\n")
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE taken AS SELECT 1 AS a")
        assert refused(engine, statements(tmp_path)) <= 3
    assert len(os.listdir(tmp_path)) > 1


def test_the_cage_is_shut_before_a_row_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (engine, duckdb_rows):
        monkeypatch.setattr(module, "lock", lambda engine: None)
    for where in sources(folder):
        with source.opened(where) as rows:  # type: ignore[arg-type]
            rows.take(["a"])
            assert refused(rows._engine, statements(folder)[:1]) == 0, "without the lock the file is read"  # type: ignore[attr-defined]


# Names.

NAMES = [
    '"; DROP TABLE t; --',
    't" ; CREATE TABLE owned AS SELECT 1; --',
    "t'; DROP TABLE t; --",
    't" UNION ALL SELECT * FROM secrets --',
    '" AS t(c0) --',
    "read_text('/etc/passwd')",
    "../../private.csv",
    "private.csv",
    "t; ATTACH 'x.duckdb'",
    'main"."t',
    "$1 ? :name",
    "--",
]


def named(folder: Path) -> Path:
    """A database in which every hostile name is a table with a column of that name, and each holds its own number."""
    path = folder / "given" / "names.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute("CREATE TABLE t AS SELECT 9 AS a; CREATE TABLE secrets AS SELECT 9 AS a")
        for place, name in enumerate(NAMES):
            engine.execute(f"CREATE TABLE {quote(name)} AS SELECT {place % 9} AS {quote(name)}")
    return path


def read_back(path: Path) -> int:
    """How many of the hostile names lead to their own table and nothing else."""
    right = 0
    for place, name in enumerate(NAMES):
        try:
            loaded = load((path, name), Domain((Integers(name=name, low=0, high=9),)))
        except DeskError:
            continue
        right += loaded.codes[name].tolist() == [place % 9]
    return right


@pytest.mark.exhaustive
def test_twelve_hostile_names_are_only_names(folder: Path) -> None:
    path = named(folder)
    assert read_back(path) == len(NAMES) == 12
    assert set(stored_tables(path) or ()) == {*NAMES, "t", "secrets"}
    other = hostile(folder)
    for name in NAMES:
        with pytest.raises(BadFile, match="no table"):
            inspect((other, name))


@pytest.mark.exhaustive
def test_a_careless_quote_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = named(folder)
    monkeypatch.setattr(duckdb_tables, "quote", lambda name: f'"{name}"')
    assert read_back(path) < 12


@pytest.mark.exhaustive
def test_hostile_names_of_columns_and_files(folder: Path) -> None:
    domain = Domain(tuple(Booleans(name=name) for name in NAMES))
    frame = pd.DataFrame({name: [place % 2, 1] for place, name in enumerate(NAMES)})
    for place, name in enumerate(NAMES):
        stem = name.replace("/", "_")
        frame.to_csv(folder / "given" / f"{stem}.csv", index=False)
        frame.to_parquet(folder / "given" / f"{stem}.parquet")
        for ending in ("csv", "parquet"):
            loaded = load(folder / "given" / f"{stem}.{ending}", domain)
            assert loaded.codes[name].tolist() == [place % 2, 1]


# Views, functions and computed columns of a database that somebody made to hurt.


def hostile(folder: Path, *made: str) -> Path:
    path = folder / "given" / "hostile.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as engine:
        engine.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b")
        for statement in made:
            engine.execute(statement.format(private=folder / "private.csv"))
    return path


RUNAWAY = "SELECT count(*) AS a, 'x' AS b FROM range(1000000000) AS r(i), range(1000000000) AS s(j) WHERE i * j = 7"
VIEWS = {
    "another file": "CREATE VIEW v AS SELECT * FROM read_csv('{private}')",
    "another file by its name": "CREATE VIEW v AS SELECT * FROM '{private}'",
    "a folder": "CREATE VIEW v AS SELECT 1 AS a, file AS b FROM glob('/etc/*')",
    "settings": "CREATE VIEW v AS SELECT 1 AS a, current_setting('temp_directory') AS b",
    "no end": f"CREATE VIEW v AS {RUNAWAY}",
    "endless recursion": "CREATE VIEW v AS WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r) "
    "SELECT a, 'x' AS b FROM r",
}


@pytest.mark.parametrize("case", VIEWS)
def test_views_are_refused_unread(folder: Path, case: str) -> None:
    path = hostile(folder, VIEWS[case])
    assert stored_tables(path) == ("t",)
    for call in (inspect, load):
        with pytest.raises(BadFile, match="views cannot be used"):
            call((path, "v"))


# Each stands for a function of DuckDB's that the reader relies on, or might.
SHADOWS = (
    "CREATE MACRO current_setting(name) AS true",
    "CREATE MACRO current_database() AS 'hostile'",
    "CREATE MACRO duckdb_tables() AS TABLE SELECT 'main' AS schema_name, 'v' AS table_name, false AS internal, "
    "false AS temporary, 'hostile' AS database_name UNION ALL SELECT 'main', 'v', false, false, 'given'",
    "CREATE MACRO duckdb_columns() AS TABLE SELECT '' AS column_name, '' AS database_name, '' AS schema_name, "
    "'' AS table_name, false AS is_generated",
    "CREATE MACRO count_star() AS 7",
    "CREATE MACRO trim(text, blanks) AS 'owned'",
    "CREATE MACRO isinf(value) AS true",
    "CREATE MACRO epoch(value) AS (SELECT count(*) FROM range(1000000000000))",
)


@pytest.mark.exhaustive
def test_functions_of_the_file_stand_for_nothing(folder: Path) -> None:
    path = hostile(folder, VIEWS["another file"], *SHADOWS)
    assert stored_tables(path) == ("t",)
    with pytest.raises(BadFile, match="views cannot be used"):
        load((path, "v"))
    loaded = load((path, "t"))
    assert (loaded.rows, loaded.codes["a"].tolist(), loaded.codes["b"].tolist()) == (1, [1], [0])
    with source.opened((path, "t")) as rows:
        assert refused(rows._engine, statements(folder)) == 12  # type: ignore[attr-defined]


def opened_by_itself(engine: duckdb.DuckDBPyConnection, path: Path) -> None:
    """The mutant: the file is the database that names are looked up in first, as if it had been connected to."""
    engine.execute(f"ATTACH '{path}' AS given (READ_ONLY)")
    engine.execute("USE given")
    lock(engine)


def test_a_file_that_is_looked_up_first_escapes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hostile(folder, VIEWS["another file"], *SHADOWS[:4])
    monkeypatch.setattr(source, "attach", opened_by_itself)
    for module in (engine, duckdb_tables):
        monkeypatch.setattr(module, "memory", lambda engine: 1e9)
    assert load((path, "v")).codes["b"].tolist() == [1], "the secret of another file, through the door of the table"


@pytest.mark.exhaustive
def test_computed_columns_are_refused_unread(folder: Path) -> None:
    computed = "CREATE TABLE g (a BIGINT, b BIGINT GENERATED ALWAYS AS (list_sum(range(a))) VIRTUAL)"
    path = hostile(folder, computed)
    assert stored_tables(path) == ("g", "t")
    with pytest.raises(BadFile, match="'b' is computed"):
        load((path, "g"))
    with pytest.raises(BadFile, match="'b' is computed"):
        inspect((path, "g"))


# Without end. Nothing here looks at a clock: a reader that ran on would be ended by the harness.


def runaway(folder: Path) -> list[tuple[str, bytes]]:
    content = hostile(folder, "DROP TABLE t", VIEWS["no end"], *SHADOWS).read_bytes()
    return [("runaway.duckdb", content)]


def read_view(path: Path) -> object:
    return load((path, "v"))


def read_trustingly(path: Path) -> object:
    """The mutant: it reads whatever has that name."""
    with duckdb.connect(str(path), True) as engine:
        return engine.execute("SELECT * FROM v").fetchall()


def test_a_runaway_is_refused_at_once(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    report = take_in(tmp_path_factory.mktemp("runaway"), runaway, folder, way=Way(read=read_view), patience=20.0)
    assert (report.refused, report.undeclared, report.left) == (1, [], [])
    assert report.slowest < 1.5, "CPU seconds; the view is never run"


def test_a_reader_of_views_runs_away(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(AssertionError, match="at upload 0"):
        take_in(tmp_path_factory.mktemp("runaway"), runaway, folder, way=Way(read=read_trustingly), patience=1.5)


def test_no_temporary_files(tmp_path: Path) -> None:
    report = take_in(tmp_path, list, [("large.csv", b"a,b\n" + b"1,some longer text\n" * 200_000)])
    assert (report.loaded, report.left) == (1, [])
