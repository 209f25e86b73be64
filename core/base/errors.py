"""Every exception of Release Desk.

A message is one sentence for a curator. It may name a column, a parameter or a file kind; it never contains a value
from a private table, so any message may be shown, logged or stored. Anything else that is raised while private data is
open is caught at the door (`table.py`, `desk.py`) and replaced by one of these.
"""

from __future__ import annotations


def printable(name: object, limit: int = 60) -> str:
    """A column or parameter name made safe for one line of text."""
    text = "".join(character if character.isprintable() else "?" for character in str(name))
    return text if len(text) <= limit else text[: limit - 1] + "…"


class DeskError(Exception):
    """Base of everything the engine raises on purpose; its text is safe to show to anyone at the desk."""


class BadFile(DeskError):
    """A file that cannot be opened as a table."""


class BadSchema(DeskError):
    """A public schema that contradicts itself or does not belong to this table."""


class BadParameter(DeskError):
    """A number or a choice outside what a mechanism, a budget or a query class accepts."""

    def __init__(self, parameter: str, problem: str) -> None:
        self.parameter = parameter
        super().__init__(f"{printable(parameter)}: {problem}")


class OutOfBudget(DeskError):
    """The account cannot pay; nothing was spent."""


class Undeclared(DeskError):
    """A mechanism that asks the private table for more than was reserved for it; nothing was drawn."""

    def __init__(self) -> None:
        super().__init__("This mechanism asked for more than its plan reserved, so it was stopped; report it as a bug.")


class Refused(DeskError):
    """A plan that is valid but cannot be carried out here; the text names the size and what to use instead."""


class Unknown(DeskError):
    """A table, plan, release or mechanism that this workspace does not hold."""


class Failed(DeskError):
    """A run that stopped half-way; the spend stays on record and the same plan can be run again without paying."""


class CannotGoOn(DeskError):
    """A session whose public state answers nothing any more; its answers so far stay readable."""

    def __init__(self) -> None:
        super().__init__("This session cannot go on and is closed: its answers stay readable; open another one.")
