"""Names and paths of somebody else's choice in SQL."""

from __future__ import annotations

from core.base.errors import BadSchema, printable


def quote(name: str) -> str:
    """A name as an SQL identifier; the only way a name of somebody else's choice enters SQL.

    >>> quote('a"b')
    '"a""b"'
    """
    return '"' + _checked(name).replace('"', '""') + '"'


def mysql_quote(name: str) -> str:
    """The same for a server that reads backquotes, whatever its settings are.

    >>> mysql_quote("a`b")
    '`a``b`'
    """
    return "`" + _checked(name).replace("`", "``") + "`"


def _checked(name: str) -> str:
    if "\0" in name:
        raise BadSchema(f"The name '{printable(name)}' contains a NUL character; choose another.")
    return name


def literal(text: str) -> str:
    """A path as an SQL text, where a statement is kept and cannot take parameters.

    >>> literal("it's")
    "'it''s'"
    """
    if "\0" in text:
        raise BadSchema("A path contains a NUL character; choose another.")
    return "'" + text.replace("'", "''") + "'"
