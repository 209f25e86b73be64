"""Which mechanisms can release what was chosen, at what price; every figure and every refusal comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.options import options_of
from core.base.wording import plural
from core.desk.desk import Desk
from core.mechanisms.kit.protocol import Expected, Mechanism
from core.planning.budget_for import budget_for
from core.planning.recommendation import ranked
from core.plans.statements import DeskTable, Statement
from core.privacy.budget import Budget
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.registry import mechanism_from, offline
from dashboard.views.common import messages, option_form
from dashboard.views.common.state import PageState
from dashboard.views.common.wording import duration, number, percent
from dashboard.views.plan.plan_form import Accuracy, Wanted

RECOMMENDED = " · **recommended**"
FEW, TALL = 5, 480
"""Mechanisms that are shown at their full length; a list of more scrolls in so many pixels, the best ones first."""
KEPT = 16
"""Priced choices that a session remembers."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A mechanism that can serve all chosen classes, with its usual options."""

    mechanism: type[Mechanism]
    budget: Budget
    """The wanted one, or the smallest that reaches the wanted accuracy."""
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


def offers(here: PageState, desk: Desk, table: DeskTable, asked: Sequence[QueryClass], wanted: Wanted) -> Offers:
    """Every mechanism, priced or refused; remembered, because a page runs at every click."""

    def priced() -> Offers:
        if isinstance(wanted, Budget):
            return _priced(desk, table, asked, wanted)
        return _reaching(desk, table, asked, wanted, offers(here, desk, table, asked, Budget(1, wanted.delta)))

    return remembered(here.offers, (table.id, tuple(asked), wanted), priced)


def remembered(known: dict[Any, Any], key: Hashable, make: Callable[[], Any]) -> Any:
    """A value that is made once; only the latest few are kept."""
    if key not in known:
        made = make()
        for old in list(known)[: max(0, len(known) - KEPT + 1)]:
            del known[old]
        known[key] = made
    return known[key]


def pick_key(table: DeskTable, asked: Sequence[QueryClass]) -> str:
    """Where the mechanism is kept that was picked for these classes."""
    return f"picked-{table.id}-{'-'.join(dict.fromkeys(query.name for query in asked))}"


def option_key(table: DeskTable, name: str) -> str:
    """What the keys of a mechanism's options start with."""
    return f"option-{table.id}-{name}"


def choose(
    table: DeskTable, asked: Sequence[QueryClass], priced: Offers, statement: Statement
) -> tuple[Offer, dict[str, Any]] | None:
    """The mechanism that the curator picks, and its options where they are not the usual ones."""
    by_name = {offer.mechanism.name: offer for offer in priced.found}
    chosen = None
    if by_name:
        names, left = list(by_name), statement.total * (1 - statement.spent_share)
        # What was picked stays, whatever the budget; until something is, the recommendation for these classes holds.
        kept = pick_key(table, asked)
        picked, key = st.session_state.get(kept), f"{kept}-{names[0]}"
        with st.container(height="content" if len(names) <= FEW else TALL, border=len(names) > FEW):
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
            "Errors, costs, times and refusals follow from schema and budget alone; times are for a million rows.",
            "public",
        )
    if priced.refused:
        with st.expander(f"{plural(len(priced.refused), 'mechanism')} cannot do this"):
            for title, reason in priced.refused.items():
                st.write(f"**{title}**: {messages.plain(reason)}")
    if chosen is None:
        return None
    return by_name[chosen], _options(by_name[chosen].mechanism, table)


def budget_of(
    table: DeskTable, asked: Sequence[QueryClass], offer: Offer, options: dict[str, Any], wanted: Wanted
) -> Budget:
    """What the mechanism spends with the curator's own options."""
    if isinstance(wanted, Budget) or not options:
        return offer.budget
    return _needed(table, asked, offer.mechanism.name, options, wanted)


def _priced(desk: Desk, table: DeskTable, asked: Sequence[QueryClass], budget: Budget) -> Offers:
    """What every mechanism does with one budget."""
    found, refused, domain = [], {}, asked_columns(asked, table.domain)
    for mechanism in offline.values():
        try:
            found.append(_offer(desk, table, asked, mechanism, budget))
        except DeskError as problem:
            refused[mechanism.title] = messages.sentence(problem)
    names = ranked(asked, domain, budget, {offer.mechanism.name: offer.expected for offer in found})
    return Offers(found=tuple(sorted(found, key=lambda offer: names.index(offer.mechanism.name))), refused=refused)


def _reaching(desk: Desk, table: DeskTable, asked: Sequence[QueryClass], wanted: Accuracy, usual: Offers) -> Offers:
    """What every mechanism must spend to be this accurate, in the order in which they are recommended anyway."""
    found, refused = [], dict(usual.refused)
    for mechanism in (offer.mechanism for offer in usual.found):
        try:
            needed = _needed(table, asked, mechanism.name, {}, wanted)
            found.append(_offer(desk, table, asked, mechanism, needed))
        except DeskError as problem:
            refused[mechanism.title] = messages.sentence(problem)
    return Offers(found=tuple(found), refused=refused)


def _offer(
    desk: Desk, table: DeskTable, asked: Sequence[QueryClass], mechanism: type[Mechanism], budget: Budget
) -> Offer:
    made = desk.plan(table, asked, mechanism=mechanism.name, budget=budget)
    built, domain = mechanism_from(mechanism.name, asked, budget, {}), asked_columns(asked, table.domain)
    return Offer(
        mechanism=mechanism,
        budget=budget,
        units=made.units,
        expected=made.expected_error,
        seconds=built.seconds(domain, table.unit),
    )


def _needed(
    table: DeskTable, asked: Sequence[QueryClass], name: str, options: Mapping[str, Any], wanted: Accuracy
) -> Budget:
    """The smallest budget that reaches the wanted accuracy."""
    return budget_for(
        name, asked, options, table.domain, table.unit, within=wanted.within, delta=wanted.delta, measure=wanted.measure
    )


def _keep(kept: str, widget: str) -> None:
    st.session_state[kept] = st.session_state[widget]


def _options(mechanism: type[Mechanism], table: DeskTable) -> dict[str, Any]:
    options = options_of(mechanism)
    if not options:
        return {}
    with st.expander(f"Options of '{mechanism.title}'", icon=":material/tune:"):
        values = option_form.fill(options, table.domain, option_key(table, mechanism.name))
    return option_form.changed(options, values)


def _caption(offer: Offer, left: float) -> str:
    share = offer.units / left if left > 0 else float("inf")
    cost = f"Costs {percent(share)} of what is left (ε {number(offer.budget.epsilon)})"
    cost += " — too much" if offer.units > left else ""
    return f"{offer.mechanism.prefer}  \n{offer.expected.sentence()}  \n{cost}; takes {duration(offer.seconds)}."
