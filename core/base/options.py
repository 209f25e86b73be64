"""What a query class or mechanism lets a person set: read off its dataclass, so that forms write themselves.

A field made with `option(...)` appears in forms with its label, help and limits; one made with `unlisted(...)` does
not, and says why. Checking a value stays the class's own business: a form that lets a wrong value through gets the
class's sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

Kind = Literal["whole", "real", "choice", "flag", "column", "columns", "facts", "conditions", "weights", "statistics"]
"""The last four are lists of small structures and have editors of their own: columns with the value that counts as yes,
conditions on columns, weights for every combination, and statistics of a table."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One setting of a query class or mechanism."""

    name: str
    kind: Kind
    label: str
    help: str = ""
    default: Any = None
    low: float | None = None
    high: float | None = None
    """Limits of a number, or of how many columns are chosen."""
    choices: tuple[str, ...] = ()
    only: str = ""
    """For columns: 'ordered', 'numeric' or 'binary' if no other column will do."""
    every: bool = False
    """For columns: whether naming none stands for all of them."""
    within: str = ""
    """For a whole number: the columns of which it can count at most all, so that a form starts with no more."""
    required: bool = False
    """Whether there is no default."""


def option(
    kind: Kind,
    label: str,
    *,
    default: Any = MISSING,
    help: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    only: str = "",
    every: bool = False,
    within: str = "",
) -> Any:
    """A dataclass field that forms show."""
    facts = {
        "kind": kind,
        "label": label,
        "help": help,
        "low": low,
        "high": high,
        "choices": tuple(choices),
        "only": only,
        "every": every,
        "within": within,
    }
    return field(default=default, metadata={"option": facts})


def unlisted(why: str, *, default: Any = MISSING) -> Any:
    """A dataclass field that forms leave out, and the reason."""
    return field(default=default, metadata={"unlisted": why})


def options_of(kind: type) -> tuple[Option, ...]:
    """The settings of a query class or mechanism, in their order."""
    return tuple(
        Option(
            name=each.name,
            default=None if each.default is MISSING else each.default,
            required=each.default is MISSING,
            **each.metadata["option"],
        )
        for each in fields(kind)
        if "option" in each.metadata
    )


def unlisted_of(kind: type) -> dict[str, str]:
    """The fields of a query class or mechanism that forms leave out, each with the reason."""
    return {each.name: each.metadata["unlisted"] for each in fields(kind) if "unlisted" in each.metadata}
