"""Conditions that list values: a column is one of them, is missing, or is none of those declared."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

import numpy as np

from core.base.arrays import Columns, Flags
from core.base.errors import BadParameter, printable
from core.formulas.tokens import wrong
from core.formulas.writing import column_text, value_text
from core.schema.attributes import Attribute, Booleans, Categories
from core.schema.domain import Domain
from core.schema.spellings import text_of

MOST_COMPARED = 2_000
"""Names looked through for one that resembles a wrong one: a few hundredths of a second."""


@dataclass(frozen=True)
class Among:
    """A column has one of these codes."""

    column: str
    codes: tuple[int, ...]
    """Ascending, each once."""

    @property
    def columns(self) -> Columns:
        return (self.column,)

    def holds(self, domain: Domain) -> Flags:
        found = np.zeros(domain[self.column].size, dtype=np.bool_)
        found[list(self.codes)] = True
        return found

    def text(self, domain: Domain, denied: bool) -> str:
        attribute, name = domain[self.column], column_text(self.column)
        if len(self.codes) > 1:
            listed = ", ".join(value_text(text_of(attribute.label(code))) for code in self.codes)
            return f"{name} {'not in' if denied else 'in'} {{{listed}}}"
        code = self.codes[0]
        if code >= attribute.regular:
            return f"{name} is {'not ' * denied}{'missing' if is_missing(attribute, code) else 'other'}"
        return f"{name} {'!=' if denied else '='} {value_text(text_of(attribute.label(code)))}"

    def words(self, domain: Domain, denied: bool) -> str:
        attribute, name = domain[self.column], printable(self.column)
        rest = tuple(code for code in range(attribute.size) if code not in self.codes) if attribute.size < 4 else ()
        if denied and len(rest) == 1:
            return Among(self.column, rest).words(domain, False)
        labels = ", ".join(printable(attribute.label(code)) for code in self.codes)
        if len(self.codes) == 1 and is_missing(attribute, self.codes[0]):
            return f"{name} {'not ' * denied}missing"
        if not denied:
            return f"{name} {'=' if len(self.codes) == 1 else 'any of'} {labels}"
        among = is_missing(attribute, self.codes[-1])
        return f"{name} {'other than' if len(self.codes) == 1 else 'none of'} {labels}{'' if among else gap(attribute)}"


def is_missing(attribute: Attribute, code: int) -> bool:
    return attribute.missing and code == attribute.size - 1


def gap(attribute: Attribute) -> str:
    """What a negated comparison adds to its sentence where the column may be missing."""
    return " (missing included)" if attribute.missing else ""


def special(attribute: Attribute, kind: str) -> Among:
    """The declared cell of missing or of undeclared values."""
    if kind == "missing" and attribute.missing:
        return Among(attribute.name, (attribute.size - 1,))
    if kind == "other" and isinstance(attribute, Categories) and attribute.other is not None:
        return Among(attribute.name, (attribute.regular,))
    which = "missing" if kind == "missing" else "undeclared"
    raise wrong(f"the schema declares no cell for {which} values of column '{printable(attribute.name)}'.")


def labelled(attribute: Attribute, text: str) -> int | None:
    """The cell of missing or undeclared values, if this is what it is called."""
    codes = range(attribute.regular, attribute.size)
    return next((code for code in codes if text_of(attribute.label(code)) == text_of(text)), None)


def code_of(attribute: Attribute, text: str) -> int:
    """The cell of a value of a column without order."""
    if not text_of(text):
        raise wrong(f"an empty text is no value of column '{printable(attribute.name)}'; use is missing.")
    codes, misfits = attribute.encode([text])
    found = int(codes[0]) if not misfits[0] else labelled(attribute, text)
    if found is None:
        raise _no_value(attribute, text)
    return found


def nearest(word: str, names: tuple[str, ...]) -> str:
    """'; did you mean ..?' if a name resembles the word, else nothing."""
    few = {name.casefold(): name for name in islice(names, MOST_COMPARED) if len(name) <= 100}
    found = get_close_matches(word.casefold()[:100], few, n=1)
    return f"; did you mean '{printable(few[found[0]])}'?" if found else ""


def _no_value(attribute: Attribute, text: str) -> BadParameter:
    start = f"column '{printable(attribute.name)}' has no value '{printable(text)}'"
    labels = tuple(attribute.label(code) for code in range(min(attribute.size, MOST_COMPARED)))
    if isinstance(attribute, Booleans):
        return wrong(f"{start}; use {' or '.join(labels[:2])}.")
    if close := nearest(text, labels):
        return wrong(start + close)
    listed = ", ".join(printable(label, 30) for label in labels[:10])
    more = ", …" if attribute.size > 10 else ""
    return wrong(f"{start}; its values are {listed}{more}.")
