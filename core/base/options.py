"""What a query class, mechanism or session lets a person set: declared once, read by its form and by the class.

A field made with `option(...)` appears in forms with its label, help and limits; one made with `unlisted(...)` does
not, and says why. `check_options` holds every value against its declaration, so a form offers exactly what the class
accepts; what depends on other options or on the schema stays the class's own business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal

from core.base import limits
from core.base.errors import BadParameter

Kind = Literal[
    "whole", "real", "choice", "flag", "column", "columns", "facts", "conditions", "weights", "statistics", "lines"
]
"""The last five are lists of small structures and have editors of their own: columns with the value that counts as yes,
conditions on columns, weights for every combination, statistics of a table, and lines of a public table."""
EDGE = 1e-6
"""How far inside an end that is itself excluded a form stays."""


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
    """Limits of a number, or of how many columns are chosen; both are accepted."""
    above: float | None = None
    below: float | None = None
    """Limits of a number that are not accepted themselves."""
    choices: tuple[str, ...] = ()
    """What can be chosen; for lines, the names of their columns."""
    only: str = ""
    """For columns: 'ordered', 'numeric', 'binary', 'categories', or 'valued' (numbers, yes or no) alone."""
    every: bool = False
    """For columns: whether naming none stands for all of them."""
    start: int | None = None
    """For columns: how many a form starts with, 0 for none; all where it is not said and none need be chosen."""
    first: str = ""
    """For columns: what a form looks for by their names to start with: 'places'."""
    within: str = ""
    """For a whole number: the columns of which it can count at most all, so that a form starts with no more."""
    required: bool = False
    """Whether there is no default."""

    @property
    def least(self) -> float | None:
        """The smallest number that a form offers."""
        return self.low if self.above is None else self.above + EDGE

    @property
    def most(self) -> float | None:
        """The largest number that a form offers."""
        return self.high if self.below is None else self.below - EDGE

    def check(self, value: Any) -> None:
        """Refuse a value that the declaration does not allow, in one sentence."""
        if value is None and self.default is None and not self.required:
            return
        if self.kind == "whole":
            limits.whole(value, self.name, _whole(self.low), _whole(self.high))
        elif self.kind == "real":
            ends = {"low": self.low, "high": self.high, "above": self.above, "below": self.below}
            limits.real(value, self.name, **ends, example=self.default)
        elif self.kind == "choice":
            limits.choice(value, self.name, self.choices)
        elif self.kind == "flag":
            limits.flag(value, self.name)
        elif self.kind == "column":
            limits.column(value, self.name)
        elif self.kind == "columns":
            low = None if value == () and self.default == () else _whole(self.low)
            limits.names(value, self.name, low, _whole(self.high))


def check_options(made: Any) -> None:
    """Refuse the first option of a query class, mechanism or session whose value was not declared to be possible."""
    for declared in options_of(type(made)):
        declared.check(getattr(made, declared.name))
    for each in fields(made):
        given = getattr(made, each.name)
        if "fixed" in each.metadata and (given != each.default or isinstance(given, bool)):
            raise BadParameter(each.name, f"must be {each.default}.")


def option(
    kind: Kind,
    label: str,
    *,
    default: Any = MISSING,
    help: str = "",
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    only: str = "",
    every: bool = False,
    start: int | None = None,
    first: str = "",
    within: str = "",
) -> Any:
    """A dataclass field that forms show."""
    facts = {
        "kind": kind,
        "label": label,
        "help": help,
        "low": low,
        "high": high,
        "above": above,
        "below": below,
        "choices": tuple(choices),
        "only": only,
        "every": every,
        "start": start,
        "first": first,
        "within": within,
    }
    return field(default=default, metadata={"option": facts})


def unlisted(why: str, *, default: Any = MISSING) -> Any:
    """A dataclass field that forms leave out, and the reason."""
    return field(default=default, metadata={"unlisted": why})


def fixed(why: str, value: Any) -> Any:
    """A dataclass field with one value only: an option of the base class that this one cannot offer, and the reason."""
    return field(default=value, metadata={"unlisted": why, "fixed": True})


def options_of(kind: type) -> tuple[Option, ...]:
    """The settings of a query class or mechanism, in their order."""
    return _options_of(kind)


@lru_cache(maxsize=256)
def _options_of(kind: type) -> tuple[Option, ...]:
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


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)
