"""One look at a MariaDB or MySQL database: a transaction that can only read, and sees one state of it to its end.

Only tables that InnoDB keeps have such a state; others are refused where the table is looked at. The driver asks for
TLS wherever the server has it; an address that names a certificate insists on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from configparser import Error as BadOptions
from configparser import RawConfigParser
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from core.base.errors import BadFile
from core.base.optional_package import can_load
from core.table.formats.databases import database_words as words

CONNECTING = 10
"""Seconds to wait for a server."""
LOOKING = 30
"""Seconds that a question about the catalogue may take, and the wait for a lock."""
READING = 6 * 3600
"""Seconds that one pass over the rows may take, which includes what is done with them here."""
PASSWORDS = "~/.my.cnf"
SETTINGS = (
    f"SET SESSION sql_mode = '', time_zone = '+00:00', lock_wait_timeout = {LOOKING}, wait_timeout = {READING}, "
    f"net_write_timeout = {READING}, net_read_timeout = {READING}"
)
"""A cell is written the same whatever the server's defaults are."""
BEGINNING = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
OPTIONS = ("unix_socket", "ssl_ca", "ssl_verify_identity")
"""What an address may say after its question mark; whose the server is can be verified by a named certificate only."""
NOT_INSTALLED = (
    "Tables in MariaDB and MySQL are read by PyMySQL, which is not installed here; install it with "
    "pip install 'release-desk[mysql]'."
)
NO_ADDRESS = "The address of the database is none that MySQL reads; write mysql://user@host/database."
REFUSED = words.REFUSED.format(file=PASSWORDS)
PLAIN = "The database server takes this password only over TLS, which it does not offer; switch TLS on there."
SENTENCES = {
    **dict.fromkeys((1044, 1045, 1130, 1698, 1820, 3118), REFUSED),
    1049: words.UNREACHABLE,
    1146: words.NO_TABLE,
    **dict.fromkeys((1142, 1143), words.DENIED),
    # A lock, a statement that was ended or took too long, a table that changed since the transaction began.
    **dict.fromkeys((1205, 1213, 1317, 1412, 1969, 3024), words.BUSY),
    **dict.fromkeys((1040, 1203, 1226), words.FULL),
    **dict.fromkeys((0, 1053, 1152, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 2014), words.GONE),
}
"""What a server's number means, or the driver's, whose numbers begin with 2000."""


def installed() -> bool:
    """Whether such tables can be read here."""
    return can_load("pymysql")


@contextmanager
def reading(address: str) -> Iterator[Any]:
    """A connection in such a transaction; whatever goes wrong in it comes out as one sentence."""
    driver = _driver()
    connection = _connect(driver, address)
    try:
        statement = (SETTINGS, limited(connection, LOOKING), *BEGINNING)
        for each in statement:
            run(connection, each)
        yield connection
        return
    except driver.MySQLError as error:
        problem = sentence_of(error.args[0] if error.args else None)
    finally:
        if connection.open:
            connection.close()  # nothing was written, so there is nothing to commit
    raise BadFile(problem)


def run(connection: Any, statement: str, values: tuple[str, ...] | None = None) -> list[Any]:
    """All lines that a short statement gives; without values nothing in it is replaced."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def limited(connection: Any, seconds: int) -> str:
    """What limits the time of a statement: both servers can, each in its own words."""
    if "mariadb" in str(connection.get_server_info()).lower():
        return f"SET SESSION max_statement_time = {seconds}"
    return f"SET SESSION max_execution_time = {1000 * seconds}"


def database_of(address: str) -> str:
    """The database that an address names."""
    return unquote(urlsplit(address).path[1:])


def sentence_of(code: object) -> str:
    """What an error with this number means; without one the connection broke."""
    if not isinstance(code, int):
        return words.GONE
    return SENTENCES.get(code, words.UNFORESEEN.format(code=code))


def _connect(driver: Any, address: str) -> Any:
    try:
        parts = _parts(address)
    except ValueError:
        parts = None  # its text may quote the address
    if parts is None:
        raise BadFile(NO_ADDRESS)
    try:
        return driver.connect(**parts, charset="utf8mb4", connect_timeout=CONNECTING, program_name="release-desk")
    except driver.MySQLError as error:
        known = sentence_of(error.args[0] if error.args else None)
        sentence = known if known in (REFUSED, words.FULL) else words.UNREACHABLE
    except RuntimeError:
        sentence = PLAIN
    except Exception:
        sentence = words.UNREACHABLE
    raise BadFile(sentence)


def _parts(address: str) -> dict[str, Any]:
    """An address as the driver wants it."""
    found = urlsplit(address)
    options = dict(parse_qsl(found.query, keep_blank_values=True, strict_parsing=bool(found.query)))
    if not database_of(address) or found.fragment or not set(options) <= set(OPTIONS):
        raise ValueError("no database, or something that is not known")
    if not all(options.values()):
        # The driver takes an empty file of authorities for none, and then compares no name, whatever else is said.
        raise ValueError("an option that says nothing")
    if "ssl_verify_identity" in options and "ssl_ca" not in options:
        raise ValueError("the driver compares no name without a file of authorities")
    password = _password() if found.password is None else unquote(found.password)
    return {
        "host": found.hostname or "localhost",
        "port": found.port or 0,
        "user": None if found.username is None else unquote(found.username),
        # As bytes: the driver itself knows passwords of Western letters only.
        "password": password.encode(),
        "database": database_of(address),
        # By itself the driver would take any certificate, also where the address says whose it has to be.
        **({"ssl_verify_cert": True} if "ssl_ca" in options else {}),
        **options,
    }


def _password() -> str:
    """The one of the password file, empty where there is none: nothing else in it may change where a table is read."""
    parser = RawConfigParser(allow_no_value=True, strict=False)
    try:
        lines = Path(PASSWORDS).expanduser().read_text(encoding="utf-8").splitlines()
        # Other files that it names are not read; such a line may stand before any section.
        parser.read_string("\n".join(line for line in lines if not line.startswith("!")))
        found = parser.get("client", "password", fallback=None)
    except (BadOptions, OSError, ValueError, RuntimeError):
        return ""
    return (found or "").strip("\"'")


def _driver() -> Any:
    """Loaded where it is needed: whoever has files only does without."""
    if not installed():
        raise BadFile(NOT_INSTALLED)
    import pymysql
    import pymysql.cursors

    return pymysql
