"""What a query class or mechanism lets a person set: read off its dataclass, so that forms write themselves.

A field made with `option(...)` appears in forms with its label, help and limits; any other field does not. Checking a
value stays the class's own business: a form that lets a wrong value through gets the class's sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

Kind = Literal["whole", "real", "choice", "flag", "column", "columns"]


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
    choices: tuple[str, ...] = ()
    only: str = ""
    """For columns: 'ordered', 'numeric' or 'binary' if no other column will do."""


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
) -> Any:
    """A dataclass field that forms show."""
    facts = {"kind": kind, "label": label, "help": help, "low": low, "high": high, "choices": tuple(choices), "only": only}
    return field(default=default, metadata={"option": facts})


def options_of(kind: type) -> tuple[Option, ...]:
    """The settings of a query class or mechanism, in their order."""
    return tuple(
        Option(name=each.name, default=None if each.default is MISSING else each.default, **each.metadata["option"])
        for each in fields(kind)
        if "option" in each.metadata
    )
