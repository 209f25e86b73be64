"""Editors for what one field cannot hold: facts, conditions, weights and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.base.options import Option
from core.base.wording import amount, plural
from core.queries.counting import ColumnConditions
from core.queries.linear import GRID
from core.queries.lipschitz import FINEST
from core.schema.domain import Booleans, Domain
from dashboard.views.common import messages

MOST_LABELS = 1_000
"""Values of a column that a list still shows."""
MOST_COMBINATIONS = 500
"""Weights that a person still types."""
STATISTICS = {
    "largest": "The fullest cell",
    "top": "Several of the fullest cells together",
    "distance": "Distance from equal counts in all cells",
}


def facts(option: Option, domain: Domain, key: str, values: Mapping[str, Any]) -> tuple[tuple[str, int], ...] | None:
    """Columns of many values, each with the one that counts as yes; None if no column is chosen."""
    names = [a.name for a in domain if 2 < a.size <= MOST_LABELS and not isinstance(a, Booleans)]
    chosen = st.multiselect(option.label, names, key=key, help=option.help, persist_state="session")
    found = []
    for name in (name for name in names if name in chosen):
        code = st.selectbox(
            f"{messages.plain(name)} counts as yes if it is",
            range(domain[name].size),
            format_func=domain[name].label,
            key=f"{key}-{name}",
            persist_state="session",
        )
        found.append((name, int(code)))
    return tuple(found) or None


def conditions(option: Option, domain: Domain, key: str, values: Mapping[str, Any]) -> tuple[ColumnConditions, ...]:
    """A list of conditions, to which one is added at a time."""
    listed: list[ColumnConditions] = st.session_state.setdefault(f"{key}-conditions", [])
    names = [attribute.name for attribute in domain if attribute.size <= MOST_LABELS]
    chosen = st.multiselect("Columns of the next condition", names, key=f"{key}-columns", help=option.help)
    parts = []
    for name in (name for name in names if name in chosen):
        codes = st.multiselect(
            f"{messages.plain(name)} is one of",
            range(domain[name].size),
            format_func=domain[name].label,
            key=f"{key}-codes-{name}",
        )
        parts.append((name, tuple(sorted(codes))))
    ready = bool(parts) and all(codes for _, codes in parts) and tuple(parts) not in listed
    st.button(
        "Add the condition", key=f"{key}-add", disabled=not ready, icon=":material/add:",
        on_click=_add, args=(listed, tuple(parts), f"{key}-columns"),
    )  # fmt: skip
    for place, condition in enumerate(listed):
        text, remove = st.columns([6, 1], vertical_alignment="center")
        text.markdown(f"{place + 1}. {messages.plain(_words(domain, condition))}")
        remove.button("Remove", key=f"{key}-remove-{place}", type="tertiary", on_click=listed.remove, args=(condition,))
    return tuple(listed)


def weights(option: Option, domain: Domain, key: str, values: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
    """A grid of weights from 0 to 1: a line for every combination, a column for every question."""
    columns = values["columns"] or ()
    combinations = domain.cells(columns)
    if not columns or combinations > MOST_COMBINATIONS:
        found = plural(combinations, "combination")
        st.info(f"{found} to weigh: choose columns with at most {amount(MOST_COMBINATIONS)} together.")
        return ()
    questions = int(
        st.number_input("Questions", 1, 20, 1, key=f"{key}-questions", persist_state="session", help="Weighted sums.")
    )
    grid = f"{key}-{questions}-{'-'.join(columns)}"
    grids: dict[str, pd.DataFrame] = st.session_state.setdefault(f"{key}-grids", {})
    if grid not in st.session_state:
        # The editor forgets when the page changes; it must not be fed its own output while it is there.
        grids[grid] = grids.get(f"{grid}-latest", rising(domain, columns, questions))
    weight = st.column_config.NumberColumn(help=option.help, min_value=0.0, max_value=1.0, required=True)
    asked = [f"Weight {place + 1}" for place in range(questions)]
    edited = st.data_editor(
        grids[grid],
        key=grid,
        hide_index=True,
        disabled=["Combination"],
        height=min(38 + 35 * combinations, 320),
        column_config=dict.fromkeys(asked, weight),
        alt="Weights from 0 to 1 for every combination of the chosen columns.",
    )
    grids[f"{grid}-latest"] = edited
    lines = np.rint(edited[asked].fillna(0.0).to_numpy(dtype=np.float64).T * GRID).astype(int)
    return tuple(tuple(line) for line in lines.tolist())


def statistics(option: Option, domain: Domain, key: str, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], ...]:
    """Statistics of one table by their names; what they need beside the name is asked for or follows."""
    chosen = st.multiselect(
        option.label, list(STATISTICS), default=["largest"], format_func=STATISTICS.__getitem__,
        key=key, help=option.help, persist_state="session",
    )  # fmt: skip
    found: list[tuple[Any, ...]] = []
    for name in (name for name in STATISTICS if name in chosen):
        if name == "top":
            count = st.number_input("How many of them", 1, None, 3, key=f"{key}-top", persist_state="session")
            found.append(("top", int(count)))
        elif name == "distance":
            found.append(("distance", equal_shares(domain.cells(values["columns"] or ()))))
        else:
            found.append((name,))
    return tuple(found)


def _add(conditions: list[ColumnConditions], condition: ColumnConditions, widget: str) -> None:
    conditions.append(condition)
    st.session_state[widget] = []


def _words(domain: Domain, condition: ColumnConditions) -> str:
    parts = (f"{name} is {' or '.join(domain[name].label(code) for code in codes)}" for name, codes in condition)
    return ", and ".join(parts)


def rising(domain: Domain, columns: tuple[str, ...], questions: int) -> pd.DataFrame:
    """Weights to start from: evenly from 0 to 1."""
    labels = [[domain[name].label(code) for code in range(domain[name].size)] for name in columns]
    frame = pd.DataFrame({"Combination": [" · ".join(parts) for parts in product(*labels)]})
    for place in range(questions):
        frame[f"Weight {place + 1}"] = np.round(np.linspace(0.0, 1.0, len(frame)), 3)
    return frame


def equal_shares(cells: int) -> tuple[int, ...]:
    """Shares in multiples of 1/FINEST that are as equal as they can be and add up to 1."""
    return tuple(int(part) for part in np.diff(np.arange(cells + 1) * FINEST // cells))
