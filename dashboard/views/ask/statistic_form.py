"""Composing one statistic that is not a sum over the rows: the fullest cells, a distance, a difference."""

from __future__ import annotations

from itertools import product
from typing import Any

import streamlit as st

from core.base.wording import amount
from core.kernel.query import Statistic
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain
from dashboard.views.common import editors, messages

KINDS = {**editors.STATISTICS, "difference": "Difference between two groups of cells"}
MOST_CELLS = 500
"""Cells that a list still shows."""


def compose(domain: Domain, key: str) -> Statistic | None:
    """The columns of a table and what is asked about its counts; None while something is missing."""
    columns = st.multiselect(
        "Columns of the table",
        domain.names,
        default=list(domain.names[:1]),
        key=f"table-{key}",
        persist_state="session",
    )
    if not columns:
        st.info("Choose at least one column.", icon=":material/view_column:")
        return None
    ordered = tuple(name for name in domain.names if name in columns)
    kind = st.selectbox(
        "Statistic", list(KINDS), format_func=KINDS.__getitem__, key=f"statistic-{key}", persist_state="session"
    )
    parts = _parts(kind, domain, ordered, f"{key}-{'-'.join(ordered)}")
    return None if parts is None else Lipschitz(columns=ordered, statistics=(parts,)).statistic(domain, 0)


def _parts(kind: str, domain: Domain, columns: tuple[str, ...], key: str) -> tuple[Any, ...] | None:
    cells = domain.cells(columns)
    if kind == "top":
        return "top", int(st.number_input("How many of them", 1, cells, min(3, cells), key=f"top-{key}"))
    if kind == "distance":
        return "distance", editors.equal_shares(cells)
    return _difference(domain, columns, key) if kind == "difference" else (kind,)


def _difference(domain: Domain, columns: tuple[str, ...], key: str) -> tuple[Any, ...] | None:
    """Two groups of cells, none of them in both."""
    cells = domain.cells(columns)
    if cells > MOST_CELLS:
        messages.note(
            f"{amount(cells)} cells to choose from: take columns with at most {amount(MOST_CELLS)} together.", "public"
        )
        return None
    labels = [" · ".join(parts) for parts in product(*(_labels(domain, name) for name in columns))]
    groups: list[tuple[int, ...]] = []
    for place, name in zip(st.columns(2), ("One group", "The other group"), strict=True):
        taken = set(groups[0]) if groups else set()
        left = [cell for cell in range(cells) if cell not in taken]
        chosen = place.multiselect(name, left, format_func=labels.__getitem__, key=f"{name}-{key}-{sorted(taken)}")
        groups.append(tuple(sorted(chosen)))
    if not all(groups):
        st.info("Choose some cells for each of the two groups.", icon=":material/view_column:")
        return None
    return "difference", *groups


def _labels(domain: Domain, name: str) -> list[str]:
    return [domain[name].label(code) for code in range(domain[name].size)]
