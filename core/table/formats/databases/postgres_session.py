"""One look at a PostgreSQL database: a transaction that can only read, and sees one state of it to its end.

**Order** Rows are read more than once (ids, cells, fingerprint), so their order must be the same each time. In one
snapshot a scan of a whole table gives it, unless the scan joins another one half-way, is shared among processes, or is
made over an index; all of this is switched off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.base.errors import BadFile
from core.base.optional_package import can_load
from core.base.postgres_settings import CONNECTING
from core.table.formats.databases import database_words as words

LOOKING = 30
"""Seconds that a question about the catalogue may take, and the wait for a lock."""
READING = 6 * 3600
"""Seconds that one pass over the rows may take, which includes what is done with them here."""
SETTINGS = f"""
    SET LOCAL search_path = pg_catalog;
    SET LOCAL row_security = off;
    SET LOCAL lock_timeout = '{LOOKING}s';
    SET LOCAL statement_timeout = '{LOOKING}s';
    SET LOCAL idle_in_transaction_session_timeout = '{READING}s';
    SET LOCAL synchronize_seqscans = off;
    SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_indexonlyscan = off;
    SET LOCAL enable_bitmapscan = off;
    SET LOCAL datestyle = 'ISO, YMD';
    SET LOCAL intervalstyle = 'postgres';
    SET LOCAL timezone = 'UTC';
    SET LOCAL extra_float_digits = 1;
    SET LOCAL bytea_output = 'hex';
    SET LOCAL lc_monetary = 'C'
"""
"""A cell is written the same whatever the server's defaults are. A policy that would hide rows is an error: half a
table is another one."""
NOT_INSTALLED = (
    "Tables in PostgreSQL are read by psycopg, which is not installed here; install it with "
    "pip install 'release-desk[postgres]'."
)
NO_ADDRESS = "The address of the database is none that PostgreSQL reads; write postgresql://user@host/database."
REFUSED = words.REFUSED.format(file="~/.pgpass")
NO_LETTERS = "The database does not say which letters its bytes are (SQL_ASCII); bring the table as a file in UTF-8."
SENTENCES = {
    "42P01": words.NO_TABLE,
    "3F000": words.NO_TABLE,
    "42809": words.NOT_A_TABLE,
    "42501": words.DENIED,
    "40001": words.BUSY,
    "40P01": words.BUSY,
    "55P03": words.BUSY,
    "57014": words.BUSY,
    "53300": words.FULL,
    "22P05": "The table has letters that UTF-8 lacks; correct them in the database.",
}


def installed() -> bool:
    """Whether such tables can be read here."""
    return can_load("psycopg")


@contextmanager
def reading(address: str) -> Iterator[Any]:
    """A connection in such a transaction; whatever goes wrong in it comes out as one sentence."""
    driver = _driver()
    with _connected(driver, address) as connection:
        try:
            connection.execute(SETTINGS)
            yield connection
            return
        except driver.Error as error:
            problem = sentence_of(error.sqlstate)
    raise BadFile(problem)


def sentence_of(code: str | None) -> str:
    """What an error with this SQLSTATE means; without one the connection broke."""
    if code is None or code.startswith(("08", "57P")):
        return words.GONE
    return SENTENCES.get(code, words.UNFORESEEN.format(code=code))


@contextmanager
def _connected(driver: Any, address: str) -> Iterator[Any]:
    connection = _connect(driver, address)
    try:
        # The driver begins every transaction with both.
        connection.isolation_level = driver.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        yield connection
    finally:
        connection.close()  # nothing was written, so there is nothing to commit


def _connect(driver: Any, address: str) -> Any:
    try:
        parts = CONNECTING | driver.conninfo.conninfo_to_dict(address)
    except driver.Error:
        parts = None  # its text quotes the address
    if parts is None:
        raise BadFile(NO_ADDRESS)
    try:
        return driver.connect(**parts, prepare_threshold=None)
    except driver.Error as error:
        asked = error.pgconn is not None and (error.pgconn.used_password or error.pgconn.needs_password)
        sentence = REFUSED if asked else words.UNREACHABLE
    raise BadFile(sentence)


def _driver() -> Any:
    """Loaded where it is needed: whoever has files only does without."""
    if not installed():
        raise BadFile(NOT_INSTALLED)
    import psycopg
    import psycopg.conninfo
    import psycopg.sql

    return psycopg
