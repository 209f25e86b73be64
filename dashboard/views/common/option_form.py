"""Forms that write themselves from the options of a query class or mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from core.base.options import Option
from core.decisions.sites.places import likely_places
from core.schema.attributes import Attribute, Booleans, Categories
from core.schema.domain import Domain
from dashboard.views.common import editors, lines_editor

SUITED: dict[str, tuple[Callable[[Attribute], bool], str]] = {
    "": (lambda attribute: True, ""),
    "ordered": (lambda attribute: attribute.ordered, "numbers or dates"),
    "numeric": (lambda attribute: attribute.numeric, "numbers"),
    "categories": (lambda attribute: isinstance(attribute, Categories), "categories"),
    "valued": (lambda attribute: attribute.numeric or isinstance(attribute, Booleans), "numbers, or yes and no"),
    "binary": (lambda attribute: attribute.size == 2 or isinstance(attribute, Booleans), "yes or no"),
}
"""Which columns an option takes, and what is in them."""
LIKELY: dict[str, Callable[[Domain], list[str]]] = {"places": likely_places}
"""Which columns a form starts with, where their names tell."""
EDITORS: dict[str, Callable[..., Any]] = {
    "facts": editors.facts,
    "conditions": editors.conditions,
    "weights": editors.weights,
    "statistics": editors.statistics,
    "lines": lines_editor.lines,
}
PER_LINE = 3


def fill(options: Sequence[Option], domain: Domain, key: str, *, single: bool = False) -> dict[str, Any]:
    """A value for every option, asked for in their order, within the limits that the option declares.

    With `single` a column is asked for as one column, not as a list of several that are each released.
    """
    values: dict[str, Any] = {}
    short = [option for option in options if option.kind not in ("columns", "column", *EDITORS)]
    for option in options:
        if option.kind in ("column", "columns"):
            ask = _column if single and option.kind == "column" else _columns
            values[option.name] = ask(option, domain, f"{key}-{option.name}")
    for start in range(0, len(short), PER_LINE):
        line = st.columns(PER_LINE, vertical_alignment="bottom")
        for place, option in zip(line, short[start : start + PER_LINE], strict=False):
            with place:
                values[option.name] = _value(option, options, domain, f"{key}-{option.name}")
    for option in options:
        if option.kind in EDITORS:
            values[option.name] = EDITORS[option.kind](option, domain, f"{key}-{option.name}", values)
    return values


def changed(options: Sequence[Option], values: dict[str, Any]) -> dict[str, Any]:
    """The values that differ from their defaults: what is left at its default must not make another plan."""
    defaults = {option.name: option.default for option in options}
    return {name: value for name, value in values.items() if value != defaults[name]}


def suited(option: Option, domain: Domain) -> list[str]:
    """The columns that an option takes, in the schema's order."""
    fits, _ = SUITED[option.only]
    return [attribute.name for attribute in domain if fits(attribute)]


def contents(option: Option) -> str:
    """What must be in the columns that an option takes; empty if anything may."""
    return SUITED[option.only][1]


def _column(option: Option, domain: Domain, key: str) -> str | None:
    """One column, or none where it may be left out."""
    names = suited(option, domain)
    start = 0 if option.required and names else None
    return st.selectbox(option.label, names, index=start, key=key, help=option.help, placeholder="not set")


def _columns(option: Option, domain: Domain, key: str) -> tuple[str, ...] | None:
    """Columns in the schema's order, whatever the order of clicks: the same columns are the same plan, paid for once.

    One column is asked for as a list too, because a class can be released for several columns at once. None stands for
    no column, because an empty list may stand for all of them.
    """
    names = suited(option, domain)
    fewest = 1 if option.kind == "column" else option.low if option.start is None else option.start
    none = option.start == 0
    chosen = st.multiselect(
        option.label if option.kind == "columns" else f"{option.label}s",
        names,
        default=names if fewest is None or (fewest == 0 and not none) else _first(option, domain, names)[: int(fewest)],
        max_selections=None if option.high is None else int(option.high),
        key=key,
        help=option.help,
        persist_state="session",
    )
    if not chosen:
        return () if none else None
    every = option.every and len(chosen) == len(names)
    return () if every else tuple(name for name in names if name in chosen)


def _first(option: Option, domain: Domain, names: list[str]) -> list[str]:
    """The columns that a form starts with: those that are likely meant, where there are enough of them."""
    likely = LIKELY[option.first](domain) if option.first else []
    return likely if option.start is not None and len(likely) >= option.start else names


def _value(option: Option, options: Sequence[Option], domain: Domain, key: str) -> Any:
    common: dict[str, Any] = {"key": key, "help": option.help, "persist_state": "session"}
    if option.kind == "flag":
        return st.toggle(option.label, option.default, **common)
    if option.kind == "choice":
        return st.segmented_control(option.label, list(option.choices), default=option.default, required=True, **common)
    if option.kind == "real":
        ends = option.least, option.most
        return st.number_input(option.label, *ends, float(option.default), step=0.05, format="%g", **common)
    start = option.default
    if option.within:
        named = next(other for other in options if other.name == option.within)
        start = max(1, min(start, len(suited(named, domain))))
    low, high = (None if limit is None else int(limit) for limit in (option.least, option.most))
    return st.number_input(option.label, low, high, start, step=1, placeholder="not set", **common)
