"""Which mechanisms can release what was chosen, at what price; every figure and every refusal comes from the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.options import options_of
from core.base.wording import plural
from core.base.wording import rows as in_rows
from core.desk.desk import Desk
from core.mechanisms.kit.protocol import Mechanism
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.stand_ins import StandIns
from core.plans.plan import Plan
from core.plans.statements import DeskTable, Statement
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from core.registry import offline
from dashboard.views.common import messages, option_form
from dashboard.views.common.wording import duration, number, percent, purpose
from dashboard.views.plan.measuring_form import raised
from dashboard.views.plan.plan_form import Accuracy, Wanted
from dashboard.views.release.remaining_time import packing

RECOMMENDED = " · **recommended**"
STUDIED = " · for study"
FOR_STUDY = "It is here to be studied and would need more than the others; choose a budget to use it."
FEW, TALL = 5, 480
"""Mechanisms that are shown at their full length; a list of more scrolls in so many pixels, the best ones first."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A mechanism that can serve all chosen classes, with its usual options."""

    plan: Plan
    """With its price and what is expected of the chosen questions."""
    budget: Budget
    """The wanted one, or the smallest that reaches the wanted accuracy."""
    reason: str
    """Why it stands where it stands."""

    @property
    def mechanism(self) -> type[Mechanism]:
        return offline[self.plan.mechanism]

    @property
    def expected(self) -> Figure:
        return self.plan.expected_error


@dataclass(frozen=True, kw_only=True)
class Offers:
    found: tuple[Offer, ...]
    """The recommended one first."""
    studied: tuple[Offer, ...]
    """Mechanisms that are here for their theorems: they stand apart, and are never recommended beside others."""
    refused: dict[str, str]
    """Titles of the others, each with the reason in one sentence."""


def offers(
    desk: Desk,
    table: DeskTable,
    asked: Sequence[QueryClass],
    wanted: Wanted,
    rows: int | None = None,
    measure: Fraction = Fraction(0),
) -> Offers:
    """Every mechanism, priced or refused. It takes seconds where trials are new: see `trials/first_trials.py`."""
    if isinstance(wanted, Budget):
        return _priced(desk, table, asked, wanted, rows, measure)
    usual = _priced(desk, table, asked, Budget(1, wanted.delta), rows, measure)
    return _reaching(desk, table, asked, wanted, usual, desk.stand_ins(table, asked, rows=rows), measure)


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
    # What was picked stays, whatever the budget; until something is, the recommendation for these classes holds.
    kept = pick_key(table, asked)
    picked = st.session_state.get(kept)
    shown = priced.found + (priced.studied if _study(table, priced, picked) else ())
    by_name, chosen = {offer.mechanism.name: offer for offer in shown}, None
    if by_name:
        names, left = list(by_name), statement.total * (1 - statement.spent_share)
        key = f"{kept}-{names[0]}"
        with st.container(height="content" if len(names) <= FEW else TALL, border=len(names) > FEW):
            chosen = st.radio(
                "Mechanism",
                names,
                index=names.index(picked) if picked in by_name else 0,
                format_func=lambda name: _label(by_name[name], priced),
                captions=[_caption(offer, left, len(table.domain)) for offer in shown],
                key=key,
                on_change=_keep,
                args=(kept, key),
            )
        told = by_name[chosen].expected
        by = "were simulated" if told.how == "simulated" else "come from a model of simulations"
        messages.note(
            f"Errors {by}: {_sentence(told)}. All of this follows from public facts alone.",
            "public",
        )
    if priced.refused:
        with st.expander(f"{plural(len(priced.refused), 'mechanism')} cannot do this"):
            for title, reason in priced.refused.items():
                st.write(f"**{title}**: {messages.plain(reason)}")
    if chosen is None:
        return None
    return by_name[chosen], _options(by_name[chosen].mechanism, table)


def _study(table: DeskTable, priced: Offers, picked: str | None) -> bool:
    """Whether the mechanisms for study are listed too; one that was picked stays in sight."""
    if not priced.studied:
        return False
    key = study_key(table)
    if picked in [offer.mechanism.name for offer in priced.studied]:
        st.session_state.setdefault(key, True)
    return st.toggle(
        f"Show {plural(len(priced.studied), 'mechanism')} for study",
        key=key,
        help="The papers' own mechanisms, as their theorems have them. They keep their privacy promise like all "
        "others; their errors are larger.",
    )


def study_key(table: DeskTable) -> str:
    """Where it is kept whether mechanisms for study are listed."""
    return f"study-{table.id}"


def _label(offer: Offer, priced: Offers) -> str:
    mark = STUDIED if offer in priced.studied else RECOMMENDED if offer is priced.found[0] else ""
    return purpose(offer.mechanism.prefer).removesuffix(".") + mark


def budget_of(
    desk: Desk,
    table: DeskTable,
    asked: Sequence[QueryClass],
    offer: Offer,
    options: dict[str, Any],
    wanted: Wanted,
    stand_ins: StandIns,
    measure: Fraction,
) -> Budget:
    """What the mechanism spends with the curator's own options, and measuring after it."""
    if isinstance(wanted, Budget) or not options:
        return offer.budget
    return raised(_needed(desk, table, asked, offer.mechanism.name, options, wanted, stand_ins), measure, wanted)


def _priced(
    desk: Desk, table: DeskTable, asked: Sequence[QueryClass], budget: Budget, rows: int | None, measure: Fraction
) -> Offers:
    """What every mechanism does with one budget, as the desk recommends it."""
    found = desk.recommend(table, asked, budget, rows=rows, measure=measure)
    refused = {offline[name].title: messages.sentence(problem) for name, problem in found.refused.items()}
    return Offers(
        found=tuple(Offer(plan=each.plan, budget=budget, reason=each.reason) for each in found.offered),
        studied=tuple(Offer(plan=each.plan, budget=budget, reason=each.reason) for each in found.studied),
        refused=refused,
    )


def _reaching(
    desk: Desk,
    table: DeskTable,
    asked: Sequence[QueryClass],
    wanted: Accuracy,
    usual: Offers,
    stand_ins: StandIns,
    measure: Fraction,
) -> Offers:
    """What every mechanism must spend to be this accurate; the one that spends least is recommended."""
    found, refused = [], dict(usual.refused)
    for offer in usual.found:
        name = offer.mechanism.name
        try:
            needed = raised(_needed(desk, table, asked, name, {}, wanted, stand_ins), measure, wanted)
            plan = desk.plan(table, asked, mechanism=name, budget=needed, stand_ins=stand_ins, measure=measure)
            error = f"±{in_rows(plan.expected_error.mean)} on average."
            found.append(Offer(plan=plan, budget=needed, reason=error))
        except DeskError as problem:
            refused[offer.mechanism.title] = messages.sentence(problem)
    refused |= {offer.mechanism.title: FOR_STUDY for offer in usual.studied}
    return Offers(found=tuple(sorted(found, key=lambda offer: offer.budget.epsilon)), studied=(), refused=refused)


def _needed(
    desk: Desk,
    table: DeskTable,
    asked: Sequence[QueryClass],
    name: str,
    options: Mapping[str, Any],
    wanted: Accuracy,
    stand_ins: StandIns,
) -> Budget:
    """The smallest budget that reaches the wanted accuracy."""
    return desk.budget_for(
        table,
        asked,
        mechanism=name,
        within=wanted.within,
        delta=wanted.delta,
        error=wanted.error,
        stand_ins=stand_ins,
        **options,
    )


def _sentence(told: Figure) -> str:
    """What a figure speaks of, inside a sentence."""
    return messages.plain(told.about[0].lower() + told.about[1:])


def _keep(kept: str, widget: str) -> None:
    st.session_state[kept] = st.session_state[widget]


def _options(mechanism: type[Mechanism], table: DeskTable) -> dict[str, Any]:
    options = options_of(mechanism)
    if not options:
        return {}
    with st.expander(f"Options of '{mechanism.title}'", icon=":material/tune:"):
        values = option_form.fill(options, table.domain, option_key(table, mechanism.name), single=True)
    return option_form.changed(options, values)


def _caption(offer: Offer, left: float, columns: int) -> str:
    units, figure = offer.plan.units, offer.expected
    share = units / left if left > 0 else float("inf")
    cost = f"Costs {percent(share)} of what is left (ε {number(offer.budget.epsilon)})"
    cost += " — too much" if units > left else ""
    error = f"{offer.reason} All within ±{in_rows(figure.worst)}, 95 % of the time."
    time = f"takes {duration(figure.seconds + packing(columns, figure.rows))}"
    return "  \n".join((f"{offer.mechanism.title}.", error, f"{cost}; {time}."))
