"""A server's database: the same walls as a file, and one sentence for everything that can be wrong with a server."""

from __future__ import annotations

import builtins
import contextlib
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base.errors import DeskError
from core.ledger import leases
from core.ledger.database import Guard, Layout
from core.ledger.layout import LARGEST_AMOUNT, LAYOUT
from core.ledger.ledger import Ledger
from core.ledger.places import on_server, open_database
from core.ledger.postgres import server, shared_database
from core.ledger.postgres.shared_database import PostgresDatabase
from core.ledger.postgres.sql import SCHEMA, as_postgres, sentence_of
from core.privacy.privacy_filter import PURE
from core.sessions.kept.file import SessionFile
from tests.core.ledger.test_ledger import OTHER_BUDGET, REASON, declared, one_way, opened, reserve
from tests.core.sessions.kept.stored import add, close, record
from tests.databases import NOBODY_KNOWS, StartedServer, name_of

SMALL = Layout(noun="list", mark=77, version=1, tables=("CREATE TABLE t (a INTEGER NOT NULL, b BLOB) STRICT",))

FORBIDDEN = [
    "UPDATE account SET spent = 101",
    "UPDATE account SET spent = -1",
    "UPDATE account SET spent = 39",
    "UPDATE account SET total = 39",
    "UPDATE account SET sums = '{}'",
    "UPDATE account SET sums = 'no json'",
    """UPDATE account SET sums = '{"pure":39}'""",
    """UPDATE account SET sums = '{"pure":null}'; UPDATE account SET sums = '{"pure":100}'""",
    "UPDATE account SET spent = 0, refunds = refunds + 1",
    "UPDATE plan SET units = 0 WHERE id = 'q'",
    "UPDATE plan SET amounts = '{}' WHERE id = 'q'",
    "UPDATE plan SET plan_json = '[]' WHERE id = 'q'",
    "UPDATE plan SET result = '\\x00' WHERE id = 'p'",
    "UPDATE plan SET status = 'reserved', result = NULL WHERE id = 'p'",
    "UPDATE plan SET status = 'stored' WHERE id = 'q'",
    "DELETE FROM plan",
    "DELETE FROM account",
    "DELETE FROM override",
    "TRUNCATE account CASCADE",
    "TRUNCATE refund",
    """INSERT INTO refund VALUES ('p', '{"pure":31}', 'now')""",
    """INSERT INTO refund VALUES ('p', '{"pure":null}', 'now')""",
    "INSERT INTO refund VALUES ('p', '{}', 'now')",
    """INSERT INTO refund VALUES ('q', '{"pure":1}', 'now')""",
    "INSERT INTO plan (id, dataset_id, plan_json, amounts, units, status, reserved_at)"
    " VALUES ('r', 'people', '', '{}', -1, 'reserved', '')",
]
"""Each refused by the tables, whoever asks."""
FORBIDDEN_OF_SESSIONS = [
    "DELETE FROM reply",
    "TRUNCATE session CASCADE",
    "UPDATE reply SET share = 0",
    "UPDATE session SET version = 4 WHERE id = 's'",
    "UPDATE session SET status = 'open', closed_at = NULL WHERE id = 'c'",
    "UPDATE state SET data = '\\x00', version = 3 WHERE session = 's'",
    "UPDATE state SET allowance = NULL WHERE session = 's'",
    "INSERT INTO ending VALUES ('s', 'closed', NULL)",
]


@pytest.fixture
def address(postgres: StartedServer) -> str:
    return postgres.new()


@pytest.fixture
def ledger(address: str) -> Ledger:
    ledger = Ledger(address)
    opened(ledger)
    declared(ledger)
    return ledger


def test_addresses_are_told_from_files() -> None:
    assert on_server("postgresql://desk@db/desk") and on_server("postgres://db")
    assert not on_server("file:x") and not on_server(Path("postgresql://db"))


def test_words_that_differ() -> None:
    [table] = as_postgres(SMALL.tables[0])
    assert table == "CREATE TABLE t (a BIGINT NOT NULL, b BYTEA, rowid BIGINT GENERATED ALWAYS AS IDENTITY)"
    kept = as_postgres(Guard(name="t_is_kept", before="DELETE", table="t", refusal="kept"))
    assert len(kept) == 3 and "TRUNCATE" in kept[2]
    assert sentence_of(None, "ledger") == sentence_of("08006", "ledger") == sentence_of("57P01", "ledger")
    assert "another server is using the ledger" in sentence_of("55P03", "ledger").lower()
    assert "(22012)" in sentence_of("22012", "ledger")


@pytest.mark.slow
def test_the_tables_are_a_second_wall(ledger: Ledger) -> None:
    import psycopg

    reserve(ledger, "p", 30)
    ledger.store("p", b"answer")
    reserve(ledger, "q", 10)
    ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(99), reason=REASON)
    before = ledger.account("ab"), ledger.entries()
    for statement in FORBIDDEN:
        with contextlib.closing(ledger.database.connect()) as connection:
            connection.execute("BEGIN")
            with pytest.raises((psycopg.IntegrityError, psycopg.DataError)):
                for each in statement.split("; "):
                    connection.execute(each)
                pytest.fail(f"{statement} was taken")
    assert (ledger.account("ab"), ledger.entries()) == before


@pytest.mark.slow
def test_the_wall_stands_for_other_programs(ledger: Ledger, address: str, postgres: StartedServer) -> None:
    import psycopg

    reserve(ledger, "p", 30)
    for statement in (f"DELETE FROM {SCHEMA}.plan", f"UPDATE {SCHEMA}.account SET sums = '{{}}'"):
        with pytest.raises(psycopg.IntegrityError):
            postgres.sql(name_of(address), statement)


@pytest.mark.slow
def test_refunds_and_large_amounts_are_exact(address: str) -> None:
    ledger = Ledger(address)
    account = opened(ledger, LARGEST_AMOUNT)
    declared(ledger)
    reserve(ledger, "p", LARGEST_AMOUNT - 1)
    ledger.store("p", b"done")
    assert ledger.account("ab").left == 1
    ledger.give_back("p", {PURE: LARGEST_AMOUNT - 3})
    assert ledger.account("ab").spent == LARGEST_AMOUNT - 3
    assert account.total == LARGEST_AMOUNT
    with pytest.raises(DeskError), ledger.database.write() as connection:
        # Beyond 2^53, where doubles no longer tell neighbours apart.
        connection.execute("UPDATE account SET sums = ?", (f'{{"pure":{LARGEST_AMOUNT - 4}}}',))


@pytest.mark.slow
def test_sessions_have_their_walls_too(address: str) -> None:
    import psycopg

    file = SessionFile(address)
    add(file)
    add(file, "c")
    close(file, "c")
    record(file, 0)
    record(file, 1, kind="hard", state=b"second")
    for statement in FORBIDDEN_OF_SESSIONS:
        with contextlib.closing(file.database.connect()) as connection, pytest.raises(psycopg.IntegrityError):
            connection.execute(statement)
            pytest.fail(f"{statement} was taken")
    assert [answer.number for answer in file.replies("s")] == [1, 2]


@pytest.mark.slow
def test_commits_are_synced_whatever_the_server_says(address: str, postgres: StartedServer) -> None:
    postgres.sql(name_of(address), f"ALTER DATABASE {name_of(address)} SET synchronous_commit = off")
    with open_database(address, SMALL).read() as connection:
        found = connection.execute("SELECT current_setting('synchronous_commit') AS synced").fetchone()
    assert found["synced"] == "on"


@pytest.mark.slow
def test_an_older_layout_is_brought_up_to_date_in_one_step_or_not_at_all(address: str) -> None:
    with open_database(address, SMALL).write() as connection:
        connection.execute("INSERT INTO t VALUES (1, NULL)")
    never = Guard(name="a_grows", before="UPDATE", table="t", refusal="a grows", when="NEW.a < OLD.a")
    broken = replace(SMALL, version=2, steps={1: ("ALTER TABLE t ADD COLUMN c TEXT", "CREATE TABLE t (x TEXT)")})
    with pytest.raises(DeskError, match="list could not be used"):
        open_database(address, broken)
    newer = replace(SMALL, version=2, steps={1: ("ALTER TABLE t ADD COLUMN c TEXT", never)})
    for _ in range(2):
        with open_database(address, newer).read() as connection:
            assert connection.execute("SELECT a, c FROM t").fetchall() == [{"a": 1, "c": None}]
    with pytest.raises(DeskError), open_database(address, newer).write() as connection:
        connection.execute("UPDATE t SET a = 0")
    with pytest.raises(DeskError, match="newer Release Desk"):
        open_database(address, SMALL)


@pytest.mark.slow
def test_a_failed_statement_is_never_committed(address: str) -> None:
    database = open_database(address, SMALL)
    with pytest.raises(DeskError, match="nothing was changed"), database.write() as connection:
        connection.execute("INSERT INTO t VALUES (1, NULL)")
        with pytest.raises(Exception, match="null value"):
            connection.execute("INSERT INTO t VALUES (NULL, NULL)")
    with database.read() as connection:
        assert connection.execute("SELECT a FROM t").fetchall() == []


@pytest.mark.slow
def test_any_exception_undoes_the_transaction_and_frees_the_lock(ledger: Ledger) -> None:
    with pytest.raises(KeyboardInterrupt), ledger.database.write() as connection:
        connection.execute("UPDATE account SET spent = 50")
        raise KeyboardInterrupt
    assert ledger.account("ab").spent == 0
    reserve(ledger, "p", 1)


@pytest.mark.slow
def test_a_writer_waits_its_patience_and_reading_goes_on(ledger: Ledger, address: str) -> None:
    hasty = Ledger(address, patience=0.05)
    with ledger.database.write():
        with pytest.raises(DeskError, match="nothing was changed"):
            reserve(hasty, "p", 1)
        assert hasty.account("ab").spent == 0
    assert reserve(hasty, "p", 1).units == 1


@pytest.mark.slow
def test_a_cut_connection_is_a_sentence_and_the_next_call_goes_on(
    ledger: Ledger, address: str, postgres: StartedServer
) -> None:
    with pytest.raises(DeskError, match=r"connection .* lost"), ledger.database.write() as connection:
        connection.execute("UPDATE account SET spent = 50")
        assert postgres.cut(address)
        connection.execute("UPDATE account SET spent = 60")
    assert ledger.account("ab").spent == 0
    postgres.cut(address)
    assert reserve(ledger, "p", 1).units == 1, "connections that were cut meanwhile are replaced"


@pytest.mark.slow
def test_a_connection_is_used_again_unless_a_transaction_was_left_in_it(ledger: Ledger) -> None:
    server = ledger.database.server  # type: ignore[attr-defined]
    with ledger.database.read() as connection:
        connection.execute("SELECT 1")
    again = server.reused()
    assert again is not None
    server.put_away(again)
    server.close()
    with ledger.database.read() as connection:
        connection.execute("BEGIN")
    assert server.reused() is None


@pytest.mark.slow
def test_room_is_made_sure_of_and_leaves_nothing(address: str) -> None:
    file = SessionFile(address)
    add(file, state=bytes(100_000))
    record(file, 0)
    with file.database.read() as connection:
        assert connection.execute("SELECT filler FROM room").fetchall() == []


def test_room_is_asked_for_a_state_and_what_comes_with_it() -> None:
    asked: list[Any] = []

    class Server:
        def execute(self, statement: str, values: Any = ()) -> None:
            asked.extend(values)

    PostgresDatabase.check_room(None, Server(), 100_000)  # type: ignore[arg-type]
    assert asked == [100_000 + shared_database.SPARE]


def test_marks_and_locks_are_those_of_the_programs_before() -> None:
    """Servers of two versions may share a database: both must find the tables and wait for one another."""
    marks = [layout.mark.to_bytes(4, "big") for layout in (LAYOUT, leases.LAYOUT)]
    assert marks == [b"RDLG", b"RDLS"]
    assert shared_database.OPENING.to_bytes(4, "big") == b"RDPG"
    assert (LAYOUT.version, leases.LAYOUT.version) == (4, 1)


@pytest.mark.slow
def test_large_results_come_back_as_they_were(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    content = bytes(range(256)) * 20_000
    assert ledger.store("p", content) == content == ledger.result("p")


@pytest.mark.slow
def test_no_text_that_is_not_unicode(ledger: Ledger) -> None:
    with pytest.raises(DeskError, match="not valid Unicode"):
        ledger.failed("p\udcff", "x")


# what can be wrong with a server


def test_a_missing_driver_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("psycopg"):
            raise ImportError(name)
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DeskError, match=r"pip install 'release-desk\[postgres\]'"):
        Ledger("postgresql://desk@db/desk")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda address: address.replace("desk@", "stranger:" + "wrong-" + NOBODY_KNOWS + "@"), "refused the user"),
        (lambda address: address.replace("?host=", "?host=/nowhere"), "cannot be reached"),
        (lambda address: f"postgresql://desk:{NOBODY_KNOWS}@127.0.0.1:1/desk", "cannot be reached"),
        (lambda address: f"postgresql://desk:{NOBODY_KNOWS}@[::1/desk", "not an address"),
        (lambda address: address.replace("desk@", f"stranger:{NOBODY_KNOWS}@"), "may not use the ledger"),
    ],
)
def test_what_is_wrong_is_one_sentence_without_a_password(
    address: str, change: Any, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(DeskError, match=words) as problem:
        Ledger(change(address))
    said = [problem.value, problem.value.__cause__, problem.value.__context__]
    assert NOBODY_KNOWS not in repr(said) + caplog.text
    assert str(problem.value).count(". ") == 0


@pytest.mark.slow
def test_an_error_without_a_connection_is_a_sentence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    def broken(**_: Any) -> Any:
        raise psycopg.OperationalError

    monkeypatch.setattr(psycopg, "connect", broken)
    with pytest.raises(DeskError, match="cannot be reached"):
        Ledger("postgresql://desk@db.example/desk")


@pytest.mark.slow
def test_a_server_that_keeps_nothing_or_not_every_letter_is_refused(
    address: str, postgres: StartedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = f"{name_of(address)}_odd"
    postgres.sql("postgres", f"DROP DATABASE IF EXISTS {odd}")
    postgres.sql("postgres", f"CREATE DATABASE {odd} ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(DeskError, match="UTF8"):
        Ledger(postgres.address(odd))
    execute = server.PostgresConnection.execute

    def unsafe(self: Any, statement: str, *values: Any) -> Any:
        return execute(self, statement.replace("current_setting('fsync')", "'off'"), *values)

    monkeypatch.setattr(server.PostgresConnection, "execute", unsafe)
    with pytest.raises(DeskError, match="fsync"):
        Ledger(address)


@pytest.mark.slow
def test_a_ledger_of_a_newer_program_is_refused_and_left_alone(ledger: Ledger, address: str) -> None:
    with ledger.database.write() as connection:
        connection.execute("UPDATE layout SET version = 99 WHERE mark = ?", (LAYOUT.mark,))
    with pytest.raises(DeskError, match=r"ledger .* newer Release Desk"):
        Ledger(address)
    assert ledger.account("ab").total == 100


@pytest.mark.slow
def test_pages_name_the_server_and_no_password(ledger: Ledger) -> None:
    assert ledger.database.where == "a PostgreSQL database on this machine"
    named = server.PostgresServer(f"postgresql://u:{NOBODY_KNOWS}@db.example/desk", patience=1)
    assert named.host == "db.example"
    assert server.PostgresServer("postgresql:///desk", patience=1).host == "this machine"
    assert NOBODY_KNOWS not in repr(named)
