"""Tables in MariaDB and MySQL: every cell as from a file, one state of the table, and no secret in a sentence."""

from __future__ import annotations

import csv
import importlib
import ssl
from pathlib import Path
from typing import Any

import pytest

from core.base.errors import BadFile
from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.formats.databases import database_rows, mysql_session, mysql_table
from core.table.formats.databases import database_words as words
from core.table.formats.databases.database_source import DatabaseSource
from core.table.source import opened
from core.table.table import Table, inspect
from tests.core.table.formats.databases.reading import problem_of, same_as_file
from tests.databases import NOBODY_KNOWS
from tests.mariadb import StartedMariaDb

DOMAIN = Domain.from_list(
    [
        {"name": "age", "kind": "integers", "low": 0, "high": 120, "missing": True},
        {"name": "pay", "kind": "reals", "low": 0, "high": 100, "bins": 50, "missing": True},
        {"name": "share", "kind": "reals", "low": 0, "high": 1, "bins": 20, "missing": True},
        {
            "name": "region",
            "kind": "categories",
            "values": ["north", 'it\'s, "so"', "NULL", "Zürich"],
            "other": "other",
        },
        {"name": "well", "kind": "booleans", "missing": True},
        {"name": "born", "kind": "dates", "low": "1900-01-01", "high": "2030-12-31", "bins": 131, "missing": True},
        {"name": "seen", "kind": "dates", "low": "2000-01-01", "high": "2030-12-31", "bins": 372, "missing": True},
        {"name": "mood", "kind": "categories", "values": ["sad", "glad"], "other": "other"},
        {"name": "far", "kind": "reals", "low": 0, "high": 2e19, "bins": 10, "missing": True},
        {"name": "flag", "kind": "integers", "low": 0, "high": 7, "missing": True},
    ]
)
LOOSE = "SET sql_mode = ''"
CREATED = """
    CREATE TABLE people (
        person bigint, age smallint zerofill, pay decimal(30, 20), share float, region varchar(30) CHARACTER SET latin1,
        well boolean, born date, seen timestamp NULL, mood enum('sad', 'glad'), far bigint unsigned, flag bit(3)
    )
"""
ROWS = (
    "(1, 41, 12.50, 0.1, 'north', true, '1980-02-29', '2024-01-01 10:11:12', 'sad', 18446744073709551615, b'101')",
    """(2, NULL, 99.99999999999999999, 1e30, 'it''s, "so"', false, '0000-00-00', NULL, 'glad', 0, NULL)""",
    "(2, 130, -1, NULL, '', NULL, '9999-12-31', '2029-12-31 23:59:59', NULL, NULL, b'0')",
    "(NULL, 1, 0.0, 0.95, NULL, 2, NULL, NULL, 'glad', 1, b'1')",
    r"(3, 0, NULL, 1e-30, 'a\nb', false, '2000-01-01', '2000-01-01', 'sad', 5000000000, b'10')",
    "(1, 7, 1e8, 0.3, 'Zürich', NULL, '1899-12-31', NULL, 'sad', 12, NULL)",
)
EVIL = 'peo`ple"; DROP TABLE x --%s{}'


@pytest.fixture
def server(mariadb: StartedMariaDb) -> StartedMariaDb:
    mariadb.new()
    return mariadb


def filled(server: StartedMariaDb) -> DatabaseSource:
    server.sql("desk", LOOSE, CREATED, f"INSERT INTO people VALUES {', '.join(ROWS)}")
    return DatabaseSource(address=server.address(), table="people")


def as_csv(server: StartedMariaDb, folder: Path) -> Path:
    """As somebody would write a file of it, where null is nothing and a bit is a number."""
    names = [name if name != "flag" else "flag + 0" for name in ("person", *DOMAIN.names)]
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute(f"SELECT {', '.join(f'CAST({name} AS CHAR)' for name in names)} FROM people")
        rows = cursor.fetchall()
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["person", *DOMAIN.names])
        lines.writerows(rows)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("unit", [Unit.row(), Unit(column="person", limit=1)], ids=["rows", "ids"])
@pytest.mark.parametrize("piece", [database_rows.PIECE, 2])
def test_codes_are_those_of_the_same_rows_in_a_file(
    server: StartedMariaDb, tmp_path: Path, unit: Unit, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = filled(server)
    monkeypatch.setattr(database_rows, "PIECE", piece)
    monkeypatch.setattr(database_rows, "GROUP", piece)
    here = same_as_file(source, as_csv(server, tmp_path), DOMAIN, unit)
    assert here.dropped_rows == (0 if unit.column is None else 3)
    if unit.column is None:
        assert here.codes["age"].tolist() == [41, 121, 120, 1, 0, 7] and here.codes["flag"].tolist()[:3] == [5, 8, 0]


@pytest.mark.slow
def test_types_are_those_that_the_table_declares(server: StartedMariaDb) -> None:
    assert [column.type for column in inspect(filled(server))] == [
        *("BIGINT", "BIGINT", "DECIMAL", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "VARCHAR", "DECIMAL"),
        "BIGINT",
    ]


@pytest.mark.slow
def test_bytes_are_written_as_signs_and_a_null_alone_keeps_its_row(server: StartedMariaDb) -> None:
    server.sql(
        "desk", "CREATE TABLE people (raw blob, note text)", "INSERT INTO people VALUES (0x00FF, '\"'), (NULL, '')"
    )
    with opened(DatabaseSource(address=server.address(), table="people")) as rows:
        rows.take(["raw"])
        assert [list(piece.texts("raw")[1]) for piece in rows.pieces(["raw"])] == [["00FF"]]
        assert list(rows._table.lines(["raw"])) == [b'"00FF"\n', b"\n"]
        assert list(rows._table.lines(["note"])) == [b'""""\n', b'""\n']


@pytest.mark.slow
def test_every_pass_has_the_order_of_the_table_whatever_indexes_it_has(server: StartedMariaDb) -> None:
    server.sql(
        "desk",
        "CREATE TABLE people (person int PRIMARY KEY, age int, filler varchar(500), KEY (age))",
        "INSERT INTO people SELECT seq, (seq * 7919) % 997, REPEAT('x', 500) FROM seq_1_to_3000",
        "ANALYZE TABLE people",
    )
    plain = [row[0] for row in server.sql("desk", "SELECT age FROM people")]
    wanted = [(number * 7919) % 997 for number in range(1, 3001)]
    assert plain != wanted, "by itself the server reads the narrower index"
    with opened(DatabaseSource(address=server.address(), table="people")) as rows:
        rows.take(["person", "age"])
        assert [int(line) for line in rows._table.lines(["age"])] == wanted
        (numbers, owners), *others = rows.owners("age")
        assert not others and numbers.tolist() == list(range(3000)) and len(set(owners.tolist())) == 997
        assert (owners[:997] == owners[997:1994]).all(), "the same age, the same owner"


@pytest.mark.slow
def test_the_whole_reading_sees_one_state_and_can_only_read(server: StartedMariaDb) -> None:
    with opened(filled(server)) as rows:
        count = rows.take(["age"])
        server.sql("desk", "INSERT INTO people (age) VALUES (1)", "DELETE FROM people WHERE age = 41")
        assert sum(piece.count for piece in rows.pieces(["age"])) == count == len(ROWS)
        with pytest.raises(BadFile), mysql_session.reading(server.address()) as connection:
            mysql_session.run(connection, "DELETE FROM desk.people")
        import pymysql

        with pytest.raises(pymysql.err.OperationalError, match="1205"):
            server.sql("desk", "SET lock_wait_timeout = 1", "DROP TABLE people")
    assert server.sql("desk", "SELECT COUNT(*) FROM people") == [(len(ROWS),)]


@pytest.mark.slow
def test_a_fingerprint_is_that_of_names_and_cells(server: StartedMariaDb) -> None:
    def fingerprint() -> str:
        with opened(source) as rows:
            return rows.fingerprint()

    source = filled(server)
    first = fingerprint()
    server.sql("desk", "SET GLOBAL time_zone = '+05:00'", "SET GLOBAL sql_mode = 'ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH'")
    try:
        assert fingerprint() == first
    finally:
        server.sql("desk", "SET GLOBAL time_zone = 'SYSTEM'", "SET GLOBAL sql_mode = DEFAULT")
    server.sql(
        "desk", "ALTER TABLE people MODIFY region text CHARACTER SET utf8mb4", "ALTER TABLE people ADD KEY (age)"
    )
    assert fingerprint() == first
    server.sql("desk", LOOSE, "UPDATE people SET region = '' WHERE region IS NULL")
    changed = fingerprint()
    server.sql("desk", LOOSE, "ALTER TABLE people CHANGE pay paid decimal(30, 20)")
    assert len({first, changed, fingerprint()}) == 3


@pytest.mark.slow
def test_names_are_never_read_as_sql(server: StartedMariaDb) -> None:
    quoted = "`" + EVIL.replace("`", "``") + "`"
    made = (f"CREATE TABLE {quoted} ({quoted} int, `age%s` text)", f"INSERT INTO {quoted} VALUES (3, 'a')")
    server.sql("desk", "CREATE TABLE x (a int)", *made)
    source = DatabaseSource(address=server.address(), table=EVIL)
    assert [column.name for column in inspect(source)] == [EVIL, "age%s"]
    domain = Domain.from_list([{"name": EVIL, "kind": "integers", "low": 0, "high": 9}])
    table = Table.load(source, domain, Unit(column="age%s", limit=1), Noise())
    assert table.codes[EVIL].tolist() == [3]
    assert inspect(DatabaseSource(address=server.address(), table="x"))


@pytest.mark.slow
def test_what_is_no_table_in_one_state_is_refused_in_a_sentence(server: StartedMariaDb) -> None:
    source = filled(server)
    server.sql(
        "desk",
        "CREATE VIEW seen AS SELECT * FROM people",
        "CREATE SEQUENCE numbers",
        "CREATE TABLE past (age int) WITH SYSTEM VERSIONING",
        "CREATE TABLE loose (age int) ENGINE = MyISAM",
        "CREATE TABLE crash (age int) ENGINE = Aria",
        "CREATE TABLE made (age int, twice int AS (age * 2) VIRTUAL)",
        "CREATE TABLE kept (age int, twice int AS (age * 2) STORED)",
        "CREATE TABLE parts (age int) PARTITION BY HASH (age) PARTITIONS 3",
        "INSERT INTO parts VALUES (1), (1), (2)",
    )
    for name, told in {
        **dict.fromkeys(("missing", "People"), words.NO_TABLE),
        **dict.fromkeys(("seen", "numbers", "past"), words.NOT_A_TABLE),
        **dict.fromkeys(("loose", "crash"), mysql_table.NO_STATE),
        "made": words.COMPUTED.format(name="twice"),
    }.items():
        assert problem_of(DatabaseSource(address=source.address, table=name), DOMAIN) == told, name
    domain = Domain.from_list([DOMAIN.to_list()[0]])
    parts = Table.load(DatabaseSource(address=source.address, table="parts"), domain, Unit.row(), Noise())
    assert sorted(parts.codes["age"].tolist()) == [1, 1, 2]
    assert len(inspect(DatabaseSource(address=source.address, table="kept"))) == 2


@pytest.mark.parametrize("said", ["ssl_ca=&ssl_verify_identity=true", "ssl_ca=", "unix_socket=", "ssl_ca"])
def test_an_option_that_says_nothing_is_refused(said: str) -> None:
    """By an empty file of authorities the driver would compare no name: any server with a certificate would do."""
    with pytest.raises(ValueError):
        mysql_session._parts(f"mysql://reader@db.example/clinic?{said}")


def test_a_password_is_found_below_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert mysql_session._password() == ""
    (tmp_path / ".my.cnf").write_text(
        "!includedir /etc/mysql/conf.d/\n\n[client]\npassword = 'a b'\n", encoding="utf-8"
    )
    assert mysql_session._password() == "a b"


@pytest.mark.slow
def test_no_sentence_holds_an_address_or_a_password(
    server: StartedMariaDb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(server)
    monkeypatch.setenv("HOME", str(tmp_path))

    def told(address: str) -> str:
        return problem_of(DatabaseSource(address=address, table="people"), DOMAIN)

    server.sql("desk", "GRANT SELECT (age) ON desk.people TO stranger")
    assert told(server.address(user=f"stranger:{NOBODY_KNOWS}2")) == mysql_session.REFUSED
    assert told(server.address(user="stranger")) == mysql_session.REFUSED
    assert told(server.address(user=f"stranger:{NOBODY_KNOWS}")) == words.DENIED, "half a table is another one"
    (tmp_path / ".my.cnf").write_text(f"[client]\nhost = nowhere.example\npassword = '{NOBODY_KNOWS}'\n")
    assert told(server.address(user="stranger")) == words.DENIED, "the password file is read, for passwords only"
    (tmp_path / ".my.cnf").write_text(f"{NOBODY_KNOWS}\n")
    assert told(server.address(user="stranger")) == mysql_session.REFUSED
    assert told(server.address("nowhere")) == words.UNREACHABLE
    assert told("mysql://root@localhost/desk?unix_socket=/nowhere") == words.UNREACHABLE
    for odd in (
        "mysql://root@localhost",
        "mysql://a@b:x/c",
        f"mysql://a@b/c?nonsense={NOBODY_KNOWS}",
        "mysql://a@b/c?ssl_verify_identity=true",
    ):
        assert told(odd) == mysql_session.NO_ADDRESS
    server.sql("desk", "REVOKE SELECT (age) ON desk.people FROM stranger")


@pytest.mark.slow  # With the tests of servers, for which the driver is installed: README's command does without it.
@pytest.mark.parametrize(
    ("options", "checked", "named", "required"),
    [
        ("", False, False, False),
        ("?ssl_ca=/ca.pem", True, False, True),
        ("?ssl_ca=/ca.pem&ssl_verify_identity=true", True, True, True),
    ],
)
def test_a_certificate_that_an_address_names_is_checked(
    options: str, checked: bool, named: bool, required: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the driver means to connect; it would take any certificate where a file of authorities is all it is given."""
    driver = importlib.import_module("pymysql")
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    parts = mysql_session._parts(f"mysql://a@b/c{options}")
    meant = driver.Connection(**parts, defer_connect=True)
    assert (meant.ctx.verify_mode == ssl.CERT_REQUIRED, meant.ctx.check_hostname) == (checked, named)
    assert meant._ssl_required == required


@pytest.mark.slow
def test_a_lost_connection_is_a_sentence(server: StartedMariaDb, monkeypatch: pytest.MonkeyPatch) -> None:
    source = filled(server)
    take = database_rows.DatabaseRows.take

    def cut(self: database_rows.DatabaseRows, names: list[str]) -> int:
        count = take(self, names)
        server.cut()
        return count

    monkeypatch.setattr(database_rows.DatabaseRows, "take", cut)
    assert problem_of(source, DOMAIN) == words.GONE


@pytest.mark.slow
def test_a_locked_table_is_not_waited_for_without_end(server: StartedMariaDb, monkeypatch: pytest.MonkeyPatch) -> None:
    source = filled(server)
    patience = f"lock_wait_timeout = {mysql_session.LOOKING}"
    assert patience in mysql_session.SETTINGS
    monkeypatch.setattr(mysql_session, "SETTINGS", mysql_session.SETTINGS.replace(patience, "lock_wait_timeout = 1"))
    with server.connect() as other, other.cursor() as cursor:
        cursor.execute("LOCK TABLES people WRITE")
        assert problem_of(source, DOMAIN) == words.BUSY


@pytest.mark.slow
def test_a_row_that_the_server_cannot_send_is_a_sentence(server: StartedMariaDb) -> None:
    longest = server.sql("desk", "SELECT @@max_allowed_packet")[0][0]
    server.sql("desk", "CREATE TABLE people (a longtext, b longtext)")
    server.sql("desk", f"INSERT INTO people VALUES (REPEAT('x', {longest * 2 // 3}), REPEAT('x', {longest * 2 // 3}))")
    with pytest.raises(BadFile) as caught, opened(DatabaseSource(address=server.address(), table="people")) as rows:
        rows.fingerprint()
    assert str(caught.value) == mysql_table.TOO_LONG


@pytest.mark.slow
def test_the_same_rows_from_a_file_have_the_same_account(server: StartedMariaDb, tmp_path: Path) -> None:
    server.sql(
        "desk",
        "CREATE TABLE people (age int, pay decimal(8, 2), region varchar(9))",
        "INSERT INTO people SELECT seq % 97, (seq * 7919) % 10007 / 100, IF(seq % 2, NULL, 'north') FROM seq_1_to_500",
    )
    source, path = DatabaseSource(address=server.address(), table="people"), tmp_path / "copy.csv"
    lines = [f"{i % 97},{(i * 7919) % 10007 / 100},{'' if i % 2 else 'north'}" for i in range(500, 0, -1)]
    path.write_text("age,pay,region\n" + "\n".join(lines) + "\n")
    domain = Domain.from_list([
        {"name": "age", "kind": "integers", "low": 0, "high": 99},
        {"name": "pay", "kind": "reals", "low": 0, "high": 101, "bins": 50},
        {"name": "region", "kind": "categories", "values": ["north"], "missing": True},
    ])  # fmt: skip
    desk = Desk(tmp_path / "desk")
    terms: dict[str, Any] = {"unit": Unit.row(), "budget": Budget(epsilon=1)}
    first = desk.add_table(source, domain, **terms)
    assert (first.name, first.notes["rows"]) == ("people", 500)
    again = desk.add_table(path, domain, **terms)
    assert desk.account_name(again) == desk.account_name(first) and "source" in again.notes
    kept = b"".join(each.read_bytes() for each in (tmp_path / "desk").rglob("*") if each.is_file())
    assert source.address.encode() not in kept
    desk.close()


def test_without_the_driver_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql_session, "installed", lambda: False)
    assert problem_of(DatabaseSource(address="mysql://a@b/c", table="people"), DOMAIN) == mysql_session.NOT_INSTALLED


@pytest.mark.parametrize(("code", "told"), [(None, "lost"), (2013, "lost"), (3024, "too long"), (4711, "4711")])
def test_what_a_number_means(code: int | None, told: str) -> None:
    assert told in mysql_session.sentence_of(code)


def test_a_statement_is_limited_in_the_words_of_its_server() -> None:
    class Server:
        def __init__(self, said: str) -> None:
            self._said = said

        def get_server_info(self) -> str:
            return self._said

    assert "max_statement_time = 5" in mysql_session.limited(Server("5.5.5-10.11.6-MariaDB"), 5)
    assert "max_execution_time = 5000" in mysql_session.limited(Server("8.4.2"), 5)
