"""Bounds and categories for a stated slice of the budget, where no code book has them."""

from __future__ import annotations

import streamlit as st

from core.base.errors import DeskError, printable
from core.base.wording import plural, rows
from core.desk.desk import Desk
from core.desk.tables.surveys import Price, price
from core.mechanisms.discovery.discovery import LONGEST, SurveyKind
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from dashboard.views.common import messages
from dashboard.views.common.wording import number, percent
from dashboard.views.data import schema_files, schema_grid
from dashboard.views.data.draft import Draft

SURVEYED: dict[str, SurveyKind] = {"integers": "number", "reals": "number", "dates": "date", "categories": "text"}
"""What can be bought for each kind of column; yes or no needs nothing."""
BOUGHT = "bought"
SLICE = 10
"""One part in this many of the total is suggested."""


def show(draft: Draft, desk: Desk, unit: Unit | None, total: Budget | None, apart: str | None) -> None:
    with st.popover("Buy from the budget", icon=":material/sell:", width="stretch"):
        st.write(
            "A slice of the budget buys noisy counts over public candidates; what stands out of the noise becomes a "
            f"suggestion. Bounds are round numbers and whole years; categories have at most {LONGEST} bytes. The "
            "result is protected like a release, and the slice is gone."
        )
        if unit is None or total is None or apart == "":
            st.info("Choose first whose privacy is protected, and the total budget.", icon=":material/person:")
            return
        kinds = _kinds(draft)
        key = f"discover {draft.identity} {' '.join(kinds)}"
        chosen = st.multiselect(
            "Columns",
            list(kinds),
            default=_start(draft, kinds, key),
            key=key,
            on_change=_want,
            args=(draft, key),
            help="The kind that is set in the grid decides what is looked for: bounds or categories.",
        )
        typed = st.text_input(
            "Epsilon (ε) for these suggestions",
            number(total.epsilon / SLICE),
            key=f"discover-epsilon {total.epsilon}",
            help="A part of the total budget above, at the same delta; the columns share it equally.",
        )
        surveyed = {name: SURVEYED[kinds[name]] for name in chosen}
        part = _priced(surveyed, typed, unit, total)
        pressed = st.button("Buy suggestions", key="discover", icon=":material/sell:", disabled=part is None)
        if pressed and part is not None:
            with messages.guarded():
                with st.spinner("Reading the table and drawing noise; long columns of text take some seconds …"):
                    _buy(draft, desk, surveyed, kinds, unit, total, part, apart)
                st.rerun()
        schema_files.outcome(draft, BOUGHT)


def _start(draft: Draft, kinds: dict[str, str], key: str) -> list[str]:
    """What the field starts with, the same for as long as it lives.

    A closed popover's field is not in the browser yet and starts there later, with the default of that moment: had it
    changed by then, the browser would show another choice than the one that is bought.
    """
    wanted = _open_columns(draft, kinds) if draft.wanted is None else draft.wanted
    return draft.starts.setdefault(key, [name for name in wanted if name in kinds])


def _want(draft: Draft, key: str) -> None:
    draft.wanted = st.session_state.get(key)


def _priced(surveyed: dict[str, SurveyKind], typed: str, unit: Unit, total: Budget) -> Budget | None:
    """The slice that was typed, with what it costs and what it can find; None where it cannot be bought."""
    if not surveyed:
        return None
    try:
        part = Budget(typed.strip(), total.delta)
        cost = price(surveyed, unit=unit, total=total, part=part)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    _quote(cost, surveyed)
    return part if cost.share <= 1 else None


def _kinds(draft: Draft) -> dict[str, str]:
    used = draft.latest[draft.latest["include"]]
    pairs = zip(used["name"], used["kind"], strict=True)
    return {str(name): str(kind) for name, kind in pairs if kind in SURVEYED}


def _open_columns(draft: Draft, kinds: dict[str, str]) -> list[str]:
    """Columns that have no categories yet: nothing can be opened without them."""
    lines = draft.latest.set_index("name")
    return [name for name, kind in kinds.items() if kind == "categories" and not str(lines.loc[name, "values"]).strip()]


def _quote(cost: Price, surveyed: dict[str, SurveyKind]) -> None:
    """What it costs and what it can find, before anything is spent."""
    texts = [cost.rows[name] for name, kind in surveyed.items() if kind == "text"]
    others = [cost.rows[name] for name, kind in surveyed.items() if kind != "text"]
    needs = [f"a category needs about {rows(max(texts))}"] if texts else []
    needs += [f"a stretch of numbers or dates about {rows(max(others))}"] if others else []
    messages.note(
        f"Costs {percent(cost.share)} of the total budget. To be found, {' and '.join(needs)}; what is rarer stays "
        "hidden.",
        "public",
    )


def _buy(
    draft: Draft,
    desk: Desk,
    surveyed: dict[str, SurveyKind],
    kinds: dict[str, str],
    unit: Unit,
    total: Budget,
    part: Budget,
    apart: str | None,
) -> None:
    with draft.source(desk.folder) as source:
        found = desk.discover(source, surveyed, unit=unit, total=total, part=part, apart=apart)
    lines = found.lines(kinds)
    note = f"bought with ε = {number(part.epsilon)} of the budget"
    told = f"{plural(len(lines), 'column')} described for {percent(found.share)} of the total budget."
    silent = [name for name, suggestion in found.suggestions.items() if suggestion.empty]
    if silent:
        names = ", ".join(printable(name, 40) for name in silent[:8])
        told += f" Nothing stood out of the noise for {names}; declare it yourself or buy it with a larger slice."
    draft.restart(schema_grid.with_lines(draft.latest, lines, note), told)
    draft.filler = BOUGHT
