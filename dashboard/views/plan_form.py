"""From a curator's choices to a priced plan; every price and every refusal comes from the engine."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.desk import Desk, HeldTable
from core.errors import DeskError
from core.mechanisms.protocol import Mechanism
from core.plan import Plan
from core.privacy import Budget
from core.queries.marginals import Marginals
from core.queries.protocol import QueryClass
from core.registry import mechanisms
from core.wording import plural
from dashboard.views import budget_form, messages
from dashboard.views.wording import at_most, number, percent

MOST_ROWS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A mechanism that can carry out what was chosen, with its plan."""

    mechanism: type[Mechanism]
    plan: Plan

    @property
    def share(self) -> float:
        """Part of the remaining budget that the plan costs."""
        left = self.plan.priced_for.left
        return self.plan.units / left if left else float("inf")


def queries(table: HeldTable) -> list[QueryClass] | None:
    """The tables of counts to release."""
    names = list(table.domain.names)
    left, right = st.columns([1, 2])
    order = left.segmented_control(
        "Columns per table",
        [1, 2, 3],
        default=min(2, len(names)),
        required=True,
        key=f"order-{table.id}",
        persist_state="session",
        help="2 releases a table of counts for every pair of the chosen columns.",
    )
    columns = right.multiselect(
        "Columns", names, default=names, key=f"columns-{table.id}", persist_state="session",
        help="Fewer columns give more exact tables. What you leave out may be pure chance in the records.",
    )  # fmt: skip
    if not columns:
        st.error("Choose at least one column.", icon=":material/error:")
        return None
    # In the schema's order: the same columns clicked in another order are the same plan, paid for once.
    chosen = Marginals(
        order=order, columns=() if len(columns) == len(names) else tuple(name for name in names if name in columns)
    )
    try:
        messages.note(f"{chosen.sentence(table.domain)}.", "public")
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    return [chosen]


def rows() -> int | None:
    chosen = st.number_input(
        "Synthetic rows",
        min_value=1,
        max_value=MOST_ROWS,
        value=None,
        step=1000,
        placeholder="as many as the release estimates",
        key="rows",
        persist_state="session",
        help="Empty: about as many as the table has. The number itself costs nothing.",
    )
    return None if chosen is None else int(chosen)


def offers(
    desk: Desk, table: HeldTable, asked: list[QueryClass], budget: Budget, count: int | None
) -> tuple[list[Offer], dict[str, str]]:
    """Every mechanism that fits, most exact first, and the reason why each other one does not."""
    found, refused = [], {}
    for name, mechanism in mechanisms.items():
        try:
            plan = desk.plan(table, asked, mechanism=name, budget=budget, rows=count)
            found.append(Offer(mechanism=mechanism, plan=plan))
        except DeskError as problem:
            refused[mechanism.title] = messages.sentence(problem)
    return sorted(found, key=lambda offer: offer.plan.expected_error.mean), refused


def choose(found: list[Offer], refused: dict[str, str]) -> Offer | None:
    by_name = {offer.plan.mechanism: offer for offer in found}
    chosen = None
    if found:
        chosen = st.radio(
            "Mechanism",
            list(by_name),
            format_func=lambda name: by_name[name].mechanism.title,
            captions=[_caption(offer) for offer in found],
            key=f"mechanism-{found[0].plan.table}",
            persist_state="session",
        )
        messages.note("Errors and costs follow from the schema and the budget alone.", "public")
    if refused:
        with st.expander(f"{plural(len(refused), 'mechanism')} cannot do this"):
            for title, reason in refused.items():
                st.write(f"**{title}**: {messages.plain(reason)}")
    return None if chosen is None else by_name[chosen]


def _caption(offer: Offer) -> str:
    cost = f"Costs {percent(offer.share)} of what is left" + (" — too much." if offer.share > 1 else ".")
    return f"{offer.mechanism.prefer} {offer.plan.expected_error.sentence()} {cost}"


def budget(table: HeldTable, left_epsilon: float) -> Budget | None:
    return budget_form.budget(
        f"release-{table.id}",
        epsilon="1" if left_epsilon >= 1 or left_epsilon <= 0 else at_most(left_epsilon),
        delta=number(table.budget.delta),
        about="this release",
    )
