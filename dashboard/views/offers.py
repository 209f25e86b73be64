"""Which mechanisms can release what was chosen, at what price; every figure and every refusal comes from the engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.desk import Desk
from core.domain import Domain
from core.errors import DeskError
from core.focus import asked as asked_columns
from core.held import HeldTable, Statement
from core.mechanisms.protocol import Expected, Mechanism
from core.models.histogram import MOST_CELLS
from core.options import options_of
from core.plan import Plan
from core.privacy import Budget
from core.queries.protocol import QueryClass
from core.registry import mechanism_from, offline
from core.wording import plural
from dashboard.views import class_form, messages, option_form
from dashboard.views.state import Session
from dashboard.views.wording import duration, percent

SMALL_GRID = 2**12
"""Cells up to which rectangles are answered as well by noise on their table as by a tree."""
ABOUT_EQUAL = 1.1
RECOMMENDED = " · **recommended**"
KEPT = 16
"""Priced choices that a session remembers."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A mechanism that can serve all chosen classes, with its usual options."""

    mechanism: type[Mechanism]
    units: int
    """What it costs, in the units of the account."""
    expected: Expected
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Offers:
    found: tuple[Offer, ...]
    """The recommended one first."""
    refused: dict[str, str]
    """Titles of the others, each with the reason in one sentence."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The plan to be released, with everything that is decided."""

    mechanism: type[Mechanism]
    plan: Plan

    @property
    def share(self) -> float:
        """Part of the remaining budget that the plan costs."""
        left = self.plan.priced_for.left
        return self.plan.units / left if left else float("inf")


def offers(here: Session, desk: Desk, table: HeldTable, asked: Sequence[QueryClass], budget: Budget) -> Offers:
    """Every mechanism, priced or refused; remembered, because a page runs at every click."""
    key = (table.id, tuple(asked), budget)
    if key not in here.offers:
        for old in list(here.offers)[: max(0, len(here.offers) - KEPT + 1)]:
            del here.offers[old]
        here.offers[key] = _priced(desk, table, asked, budget)
    return here.offers[key]


def recommended(
    asked: Sequence[QueryClass], domain: Domain, budget: Budget, found: Mapping[str, Expected]
) -> list[str]:
    """The mechanisms to try first, out of those that can serve these classes; `domain` has the asked columns.

    Trees of counts for ranges and rectangles, a fit for halfspaces, the tree of cliques for tables of a large schema,
    noise on the tables for the rest. A histogram of all combinations takes its place where it is as exact: a count of
    a table is the sum of many of its counts, whose errors add up like a random walk.
    """
    classes = {query.name for query in asked}
    direct = "laplace" if budget.pure else "gaussian"
    first = [direct]
    if classes <= {"intervals", "unions"}:
        first = ["interval-tree", direct]
    elif classes <= {"rectangles", "intervals", "unions"} and domain.cells() > SMALL_GRID:
        first = ["rectangle-tree", direct]
    elif classes <= {"halfspaces"}:
        first = ["halfspace-fit", direct]
    elif classes <= {"marginals"} and domain.cells() > MOST_CELLS:
        first = ["tree", direct]
    elif {"histogram", direct} <= found.keys():
        tables = [columns for query in asked for columns in class_form.tables_of(query, domain)]
        summed = sum(math.sqrt(domain.cells() / domain.cells(columns)) for columns in tables) / len(tables)
        if summed * found["histogram"].mean <= ABOUT_EQUAL * found[direct].mean:
            first = ["histogram", direct]
    return [name for name in first if name in found]


def choose(
    here: Session, desk: Desk, table: HeldTable, asked: list[QueryClass], budget: Budget, statement: Statement
) -> tuple[type[Mechanism], dict[str, Any]] | None:
    """The mechanism that the curator picks, and its options where they are not the usual ones."""
    with st.spinner("Pricing the mechanisms …"):
        priced = offers(here, desk, table, asked, budget)
    by_name = {offer.mechanism.name: offer for offer in priced.found}
    chosen = None
    if by_name:
        names, left = list(by_name), statement.total * (1 - statement.spent_share)
        # What was picked stays, whatever the budget; until something is, the recommendation for these classes holds.
        kept = f"picked-{table.id}-{'-'.join(dict.fromkeys(query.name for query in asked))}"
        picked, key = st.session_state.get(kept), f"{kept}-{names[0]}"
        chosen = st.radio(
            "Mechanism",
            names,
            index=names.index(picked) if picked in by_name else 0,
            format_func=lambda name: by_name[name].mechanism.title + (RECOMMENDED if name == names[0] else ""),
            captions=[_caption(offer, left) for offer in priced.found],
            key=key,
            on_change=_keep,
            args=(kept, key),
        )
        messages.note(
            "Errors, costs and times follow from the schema and the budget alone; times are for a million rows.",
            "public",
        )
    if priced.refused:
        with st.expander(f"{plural(len(priced.refused), 'mechanism')} cannot do this"):
            for title, reason in priced.refused.items():
                st.write(f"**{title}**: {messages.plain(reason)}")
    if chosen is None:
        return None
    mechanism = by_name[chosen].mechanism
    return mechanism, _options(mechanism, table)


def plan(
    desk: Desk,
    table: HeldTable,
    asked: list[QueryClass],
    mechanism: type[Mechanism],
    budget: Budget,
    rows: int | None,
    options: dict[str, Any],
) -> Choice | None:
    """The plan with the curator's own options, or None with one sentence on which of them does not fit."""
    try:
        made = desk.plan(table, asked, mechanism=mechanism.name, budget=budget, records=rows, **options)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    return Choice(mechanism=mechanism, plan=made)


def _priced(desk: Desk, table: HeldTable, asked: Sequence[QueryClass], budget: Budget) -> Offers:
    found, refused, domain = [], {}, asked_columns(asked, table.domain)
    for name, mechanism in offline.items():
        try:
            made = desk.plan(table, asked, mechanism=name, budget=budget)
            seconds = mechanism_from(name, asked, budget, {}).seconds(domain, table.unit)
            found.append(Offer(mechanism=mechanism, units=made.units, expected=made.expected_error, seconds=seconds))
        except DeskError as problem:
            refused[mechanism.title] = messages.sentence(problem)
    first = recommended(asked, domain, budget, {offer.mechanism.name: offer.expected for offer in found})
    ranks = {name: place for place, name in enumerate(dict.fromkeys((*first, *offline)))}
    return Offers(found=tuple(sorted(found, key=lambda offer: ranks[offer.mechanism.name])), refused=refused)


def _keep(kept: str, widget: str) -> None:
    st.session_state[kept] = st.session_state[widget]


def _options(mechanism: type[Mechanism], table: HeldTable) -> dict[str, Any]:
    options = options_of(mechanism)
    if not options:
        return {}
    with st.expander(f"Options of '{mechanism.title}'", icon=":material/tune:"):
        values = option_form.fill(options, table.domain, f"option-{table.id}-{mechanism.name}")
    return option_form.changed(options, values)


def _caption(offer: Offer, left: float) -> str:
    share = offer.units / left if left > 0 else float("inf")
    cost = f"Costs {percent(share)} of what is left" + (" — too much" if offer.units > left else "")
    return f"{offer.mechanism.prefer}  \n{offer.expected.sentence()}  \n{cost}; takes {duration(offer.seconds)}."
