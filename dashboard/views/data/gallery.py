"""The demo tables: four invented ones of different kinds, each with what it is good for."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.base.wording import plural
from core.schema.domain import Domain
from core.table.table import inspect
from dashboard.views.common import messages, state
from dashboard.views.data import schema_grid, unit_form
from dashboard.views.data.draft import DEMO, Draft


@dataclass(frozen=True)
class DemoTable:
    """One table of the gallery."""

    name: str
    title: str
    about: str
    unit: str
    """Who a person is in it: known, because the table is invented."""


GALLERY = (
    DemoTable(
        state.DEMO_NAME,
        "Visits to a clinic",
        "Several rows per person, dates, money, health: the usual case.",
        unit_form.ID,
    ),
    DemoTable(
        "bike_trips",
        "Bicycle rides",
        "Places: where each ride began and ended, on a map of an invented city.",
        unit_form.ROW,
    ),
    DemoTable(
        "school_survey",
        "A school survey",
        "Small: 1,306 pupils. See what noise does, and how you are warned.",
        unit_form.ROW,
    ),
    DemoTable(
        "household_panel",
        "A household panel",
        "Wide: 35 answers of 4,000 households, 595 pairs of columns.",
        unit_form.ROW,
    ),
)


def choose(draft: Draft) -> None:
    """Leaves the draft with the columns and the schema of a demo table."""
    known = {table.name: table for table in GALLERY if state.demo_file(table.name) is not None}
    name = st.radio(
        "Demo table",
        list(known),
        format_func=lambda each: known[each].title,
        captions=[table.about for table in known.values()],
        key="demo-table",
        persist_state="session",
    )
    if draft.origin != _origin(name):
        begin(draft, name)
    messages.note(f"{plural(len(draft.columns), 'column')}; file and schema are part of this program.", "public")


def begin(draft: Draft, name: str) -> None:
    """Start to describe a demo table, with the schema that comes with it."""
    path = state.demo_file(name)
    if path is None:
        return
    draft.forget()
    draft.columns = tuple((column.name, column.type) for column in inspect(path))
    domain = Domain.from_json(state.demo_schema(name))
    draft.restart(schema_grid.from_domain(domain, draft.columns), rules=domain.rules)
    draft.origin, draft.name, draft.path = _origin(name), name, path


def unit(draft: Draft) -> str | None:
    """What whoever tries a demo table would choose as its unit of privacy; nothing for tables of their own."""
    return next((table.unit for table in GALLERY if draft.origin == _origin(table.name)), None)


def _origin(name: str) -> str:
    return DEMO if name == state.DEMO_NAME else f"{DEMO} {name}"
