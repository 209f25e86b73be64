"""Tables in PostgreSQL: every cell as from a file, one state of the table, and no secret in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.base.errors import BadFile, BadSchema
from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.formats.databases import database_rows, postgres_session
from core.table.formats.databases import database_words as words
from core.table.formats.databases.database_source import DatabaseSource
from core.table.source import opened
from core.table.table import Table, inspect
from tests.core.table.formats.databases.reading import problem_of, same_as_file
from tests.databases import NOBODY_KNOWS, StartedServer, name_of

DOMAIN = Domain.from_list(
    [
        {"name": "age", "kind": "integers", "low": 0, "high": 120, "missing": True},
        {"name": "pay", "kind": "reals", "low": 0, "high": 100, "bins": 50, "missing": True},
        {"name": "share", "kind": "reals", "low": 0, "high": 1, "bins": 20, "missing": True},
        {"name": "region", "kind": "categories", "values": ["north", 'it\'s, "so"', "NULL"], "other": "other"},
        {"name": "well", "kind": "booleans", "missing": True},
        {"name": "born", "kind": "dates", "low": "1900-01-01", "high": "2030-12-31", "bins": 131, "missing": True},
        {"name": "seen", "kind": "dates", "low": "2000-01-01", "high": "2030-12-31", "bins": 372, "missing": True},
        {"name": "called", "kind": "dates", "low": "2000-01-01", "high": "2030-12-31", "bins": 372, "missing": True},
        {"name": "mood", "kind": "categories", "values": ["sad", "glad"], "other": "other"},
    ]
)
CREATED = """
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE DOMAIN years AS int2;
    CREATE TABLE people (
        person bigint, age years, pay numeric, share float4, region text, well boolean, born date, seen timestamp,
        called timestamptz, mood mood, tags text[]
    )
"""
ROWS = (
    r"(1, 41, 12.50, 0.1, 'north', true, '1980-02-29', '2024-01-01 10:11:12.5', '2024-01-01 23:30:00-05', 'sad', '{}')",
    r"""(2, NULL, 'NaN', 'Infinity', 'it''s, "so"', false, 'infinity', '-infinity', 'infinity', 'glad', NULL)""",
    r"(2, 130, 1e300, NULL, '', NULL, '0044-03-15 BC', '12024-01-01', NULL, NULL, '{a}')",
    r"(NULL, -1, -0.0, 0.95, NULL, true, NULL, NULL, '2010-06-30 12:00:00+00', 'glad', NULL)",
    r"(3, 0, 99.99999999999999999, 'NaN', E'a\nb', false, '2000-1-1', '2000-01-01', '2019-12-31 23:59Z', 'sad', NULL)",
    r"(1, 7, NULL, 1e-30, 'NULL', NULL, '1899-12-31', NULL, NULL, 'sad', NULL)",
)
EVIL = 'peo"ple; DROP TABLE x --%s{}'


@pytest.fixture
def address(postgres: StartedServer) -> Iterator[str]:
    yield (found := postgres.new())
    run(found, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")


def run(address: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(address) as connection:
        for statement in statements:
            connection.execute(statement)


def filled(address: str, table: str = "people") -> DatabaseSource:
    run(address, CREATED, f"INSERT INTO people VALUES {', '.join(ROWS)}")
    return DatabaseSource(address=address, table=table)


def as_csv(address: str, folder: Path, table: str = "people") -> Path:
    """As the server itself writes a file, with words for booleans and moments of one zone."""
    import psycopg

    path = folder / "people.csv"
    names = [name if name != "well" else "well::text" for name in ("person", *DOMAIN.names)]
    with psycopg.connect(address) as connection, path.open("wb") as file:
        connection.execute("SET timezone = 'UTC'")
        query = f"COPY (SELECT {', '.join(names)} FROM {table}) TO STDOUT (FORMAT csv, HEADER)"
        with connection.cursor().copy(query) as copy:
            for part in copy:
                file.write(part)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("unit", [Unit.row(), Unit(column="person", limit=1)], ids=["rows", "ids"])
@pytest.mark.parametrize("piece", [database_rows.PIECE, 2])
def test_codes_are_those_of_the_same_rows_in_a_file(
    address: str, tmp_path: Path, unit: Unit, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = filled(address)
    monkeypatch.setattr(database_rows, "PIECE", piece)
    monkeypatch.setattr(database_rows, "GROUP", piece)
    here = same_as_file(source, as_csv(address, tmp_path), DOMAIN, unit)
    assert here.dropped_rows == (0 if unit.column is None else 3)


@pytest.mark.slow
def test_types_are_those_that_the_table_declares(address: str) -> None:
    assert [column.type for column in inspect(filled(address))] == [
        *("BIGINT", "BIGINT", "DECIMAL", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP", "VARCHAR"),
        "LIST",
    ]


@pytest.mark.slow
def test_a_column_that_is_null_alone_keeps_its_rows(address: str) -> None:
    run(address, "CREATE TABLE people (age int)", "INSERT INTO people VALUES (NULL), (5), (NULL)")
    domain = Domain.from_list([DOMAIN.to_list()[0]])
    table = Table.load(DatabaseSource(address=address, table="people"), domain, Unit.row(), Noise())
    assert table.codes["age"].tolist() == [121, 5, 121]


@pytest.mark.slow
def test_every_pass_has_the_order_of_the_table_whatever_indexes_it_has(address: str, postgres: StartedServer) -> None:
    run(
        address,
        "CREATE TABLE people (person int PRIMARY KEY, age int, filler text)",
        "INSERT INTO people SELECT (i * 7919) % 10007, i % 100, repeat('x', 500) FROM generate_series(1, 5000) AS i",
    )
    # Once pages are known to be seen by all, reading an index alone is the cheaper way to a narrow column.
    postgres.sql(name_of(address), "VACUUM ANALYZE people")
    with opened(DatabaseSource(address=address, table="people")) as rows:
        rows.take(["person", "age"])
        wanted = [(number * 7919) % 10007 for number in range(1, 5001)]
        read = [
            int(texts[place])
            for piece in rows.pieces(["person"])
            for places, texts in [piece.texts("person")]
            for place in places
        ]
        assert read == wanted
        (numbers, owners), *others = rows.owners("person")
        assert not others and numbers.tolist() == list(range(5000)) and len(set(owners.tolist())) == 5000


@pytest.mark.slow
def test_the_whole_reading_sees_one_state_and_can_only_read(address: str) -> None:
    with opened(filled(address)) as rows:
        count = rows.take(["age"])
        run(address, "INSERT INTO people (age) VALUES (1)", "DELETE FROM people WHERE age = 41")
        assert sum(piece.count for piece in rows.pieces(["age"])) == count == len(ROWS)
        import psycopg

        with pytest.raises(BadFile), postgres_session.reading(address) as connection:
            connection.execute("DELETE FROM public.people")
        with psycopg.connect(address) as other, pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("SET lock_timeout = 50")
            other.execute("DROP TABLE people")


@pytest.mark.slow
def test_a_fingerprint_is_that_of_names_and_cells(address: str) -> None:
    def fingerprint() -> str:
        with opened(source) as rows:
            return rows.fingerprint()

    source = filled(address)
    first = fingerprint()
    run(address, "ALTER DATABASE " + name_of(address) + " SET datestyle = 'German'")
    assert fingerprint() == first
    run(address, "ALTER TABLE people RENAME TO folk", "CREATE TABLE people AS SELECT * FROM folk")
    assert fingerprint() == first
    run(address, "UPDATE people SET region = '' WHERE region IS NULL")
    changed = fingerprint()
    run(address, "ALTER TABLE people RENAME pay TO paid")
    assert len({first, changed, fingerprint()}) == 3


@pytest.mark.slow
def test_names_are_never_read_as_sql(address: str) -> None:
    from psycopg import sql

    run(address, "CREATE TABLE x (a int)", 'CREATE SCHEMA "Odd.one"')
    made = sql.SQL("CREATE TABLE {} ({} int, {} text)")
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(made.format(sql.Identifier("Odd.one", EVIL), sql.Identifier(EVIL), sql.Identifier("age%s")))
        connection.execute(sql.SQL("INSERT INTO {} VALUES (3, 'a')").format(sql.Identifier("Odd.one", EVIL)))
    source = DatabaseSource(address=address, schema="Odd.one", table=EVIL)
    assert [column.name for column in inspect(source)] == [EVIL, "age%s"]
    domain = Domain.from_list([{"name": EVIL, "kind": "integers", "low": 0, "high": 9}])
    table = Table.load(source, domain, Unit(column="age%s", limit=1), Noise())
    assert table.codes[EVIL].tolist() == [3]
    assert inspect(DatabaseSource(address=address, table="x"))
    run(address, 'DROP SCHEMA "Odd.one" CASCADE')


@pytest.mark.slow
def test_what_is_no_table_is_refused_in_a_sentence(address: str) -> None:
    source = filled(address)
    run(
        address,
        "CREATE VIEW seen AS SELECT * FROM people",
        "CREATE MATERIALIZED VIEW frozen AS SELECT * FROM people",
        "CREATE SEQUENCE numbers",
        "CREATE FOREIGN DATA WRAPPER wrapper",
        "CREATE SERVER elsewhere FOREIGN DATA WRAPPER wrapper",
        "CREATE TABLE mixed (age int) PARTITION BY LIST (age)",
        "CREATE FOREIGN TABLE far PARTITION OF mixed FOR VALUES IN (1) SERVER elsewhere",
        "CREATE TABLE parts (age int) PARTITION BY LIST (age)",
        "CREATE TABLE one PARTITION OF parts FOR VALUES IN (1)",
        "INSERT INTO parts VALUES (1), (1)",
        "CREATE TABLE kept (age int, twice int GENERATED ALWAYS AS (age * 2) STORED)",
    )
    assert problem_of(DatabaseSource(address=address, table="missing"), DOMAIN) == words.NO_TABLE
    assert problem_of(DatabaseSource(address=address, schema="nowhere", table="people"), DOMAIN) == words.NO_TABLE
    for name in ("seen", "frozen", "numbers", "far", "mixed"):
        assert problem_of(DatabaseSource(address=address, table=name), DOMAIN) == words.NOT_A_TABLE, name
    run(address, "DROP FOREIGN DATA WRAPPER wrapper CASCADE")
    domain = Domain.from_list([DOMAIN.to_list()[0]])
    parts = Table.load(DatabaseSource(address=address, table="parts"), domain, Unit.row(), Noise())
    assert parts.codes["age"].tolist() == [1, 1]
    assert len(inspect(DatabaseSource(address=address, table="kept"))) == 2
    with pytest.raises(BadSchema, match="lists"):
        Table.load(source, domain, Unit(column="tags", limit=1), Noise())


@pytest.mark.slow
def test_no_sentence_holds_an_address_or_a_password(address: str) -> None:
    filled(address)
    right = address.replace("desk@", f"stranger:{NOBODY_KNOWS}@")
    wrong = address.replace("desk@", f"stranger:{NOBODY_KNOWS}2@")
    none = address.replace("desk@", "stranger@")
    assert problem_of(DatabaseSource(address=wrong, table="people"), DOMAIN) == postgres_session.REFUSED
    assert problem_of(DatabaseSource(address=none, table="people"), DOMAIN) == postgres_session.REFUSED
    assert "may not read" in problem_of(DatabaseSource(address=right, table="people"), DOMAIN)
    run(
        address,
        "GRANT SELECT ON people TO stranger",
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY older ON people USING (age > 40)",
    )
    assert "no policy hides" in problem_of(DatabaseSource(address=right, table="people"), DOMAIN)
    gone = "postgresql://desk@/desk?host=/nowhere&connect_timeout=2"
    assert problem_of(DatabaseSource(address=gone, table="people"), DOMAIN) == words.UNREACHABLE
    odd = "postgresql://desk@/desk?nonsense=" + NOBODY_KNOWS
    assert problem_of(DatabaseSource(address=odd, table="people"), DOMAIN) == postgres_session.NO_ADDRESS


@pytest.mark.slow
def test_a_lost_connection_is_a_sentence(
    address: str, postgres: StartedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = filled(address)
    take = database_rows.DatabaseRows.take

    def cut(self: database_rows.DatabaseRows, names: list[str]) -> int:
        count = take(self, names)
        postgres.cut(address)
        return count

    monkeypatch.setattr(database_rows.DatabaseRows, "take", cut)
    assert problem_of(source, DOMAIN) == words.GONE


@pytest.mark.slow
def test_a_locked_table_is_not_waited_for_without_end(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    source = filled(address)
    patience = f"lock_timeout = '{postgres_session.LOOKING}s'"
    assert patience in postgres_session.SETTINGS
    impatient = postgres_session.SETTINGS.replace(patience, "lock_timeout = '50ms'")
    monkeypatch.setattr(postgres_session, "SETTINGS", impatient)
    with psycopg.connect(address) as other:
        other.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
        assert problem_of(source, DOMAIN) == words.BUSY


@pytest.mark.slow
def test_a_piece_ends_where_its_texts_are_long(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_rows, "PIECE_BYTES", 1)
    with opened(filled(address)) as rows:
        rows.take(["age", "region"])
        assert [piece.count for piece in rows.pieces(["age", "region"])] == [1] * len(ROWS)


@pytest.mark.slow
def test_the_same_rows_from_a_file_have_the_same_account(address: str, tmp_path: Path) -> None:
    run(
        address,
        "CREATE TABLE people (age int, pay numeric, region text)",
        "INSERT INTO people SELECT i % 97, (i * 7919) % 10007 / 100.0, CASE i % 2 WHEN 0 THEN 'north' END"
        " FROM generate_series(1, 500) AS i",
    )
    source, path = DatabaseSource(address=address, table="people"), tmp_path / "copy.csv"
    lines = [f"{i % 97},{(i * 7919) % 10007 / 100},{'' if i % 2 else 'north'}" for i in range(500, 0, -1)]
    path.write_text("age,pay,region\n" + "\n".join(lines) + "\n")
    domain = DOMAIN.project(["age", "pay", "region"])
    desk = Desk(tmp_path / "desk")
    terms: dict[str, Any] = {"unit": Unit.row(), "budget": Budget(epsilon=1)}
    first = desk.add_table(source, domain, **terms)
    assert (first.name, first.notes["rows"]) == ("people", 500)
    assert desk.add_table(source, domain, **terms).id == first.id
    again = desk.add_table(path, domain, **terms)
    assert desk.account_name(again) == desk.account_name(first) and "source" in again.notes
    kept = b"".join(each.read_bytes() for each in (tmp_path / "desk").rglob("*") if each.is_file())
    assert address.encode() not in kept


def test_without_the_driver_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_session, "installed", lambda: False)
    assert (
        problem_of(DatabaseSource(address="postgresql://a@b/c", table="people"), DOMAIN)
        == postgres_session.NOT_INSTALLED
    )


@pytest.mark.parametrize(
    ("code", "told"), [(None, "lost"), ("57P01", "lost"), ("57014", "too long"), ("XX000", "XX000")]
)
def test_what_a_code_means(code: str | None, told: str) -> None:
    assert told in postgres_session.sentence_of(code)
