"""Rehearsing a plan: which public rows stand in for the table, one button, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import numpy as np
import pandas as pd
import streamlit as st

from core.base.errors import Refused, Unknown
from core.base.wording import amount
from core.base.wording import rows as in_rows
from core.desk.desk import Desk
from core.planning.simulation.lawful_rows import lawful_rows, without_counts
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable, Statement
from core.plans.terms import is_release
from core.registry import offline
from core.schema.domain import Domain
from core.table.stand_in import StandIn
from dashboard.views.budget import spend_list
from dashboard.views.common import messages, state
from dashboard.views.common.state import PageState
from dashboard.views.common.wording import duration, number
from dashboard.views.plan import rehearsals
from dashboard.views.plan.rehearsals import Outcome, Run

MOST_VALUES = 10_000_000
"""Rows times columns of a stand-in; eight bytes each."""
DEMO, UNIFORM, EARLIER = "demo", "uniform", "release-"
MOST_SHOWN = 12
Maker = Callable[[], StandIn]


def finished(here: PageState, table: DeskTable) -> list[tuple[Run, Outcome]]:
    """The rehearsals of this table in this session that have ended, oldest first."""
    service = rehearsals.service()
    runs = [(run, service.outcome(run.id)) for run in here.rehearsals if run.table == table.id]
    return [(run, outcome) for run, outcome in runs if outcome is not None]


def show(here: PageState, desk: Desk, table: DeskTable, plan: ReleaseTerms, statement: Statement, rows: int) -> None:
    """Choose the public rows, start, and look."""
    st.write("Run the whole plan on public rows first. The private table is not touched, so this costs nothing.")
    makers = _standins(desk, table, statement, rows)
    chosen = st.selectbox(
        "Public rows",
        list(makers),
        format_func=lambda name: makers[name][0],
        key=f"standin-{table.id}",
        help="Invented rows that are all chance are the hardest table for mechanisms that rely on structure.",
    )
    words, make = makers[chosen]
    service = rehearsals.service()
    waiting = next((run for run in reversed(here.rehearsals) if service.progress(run.id) is not None), None)
    run = Run(id=uuid4().hex, table=table.id, plan=plan, standin=words)
    st.button(
        "Rehearse",
        icon=":material/theater_comedy:",
        disabled=waiting is not None,
        on_click=_start,
        args=(here, run, make),
        key="rehearse",
    )
    if waiting is not None:
        _watch(waiting.id)
    _results(finished(here, table))


def _start(here: PageState, run: Run, make: Maker) -> None:
    rehearsals.service().start(run, make)
    here.rehearsals = [*here.rehearsals, run][-MOST_SHOWN:]


@st.fragment(run_every=1)
def _watch(run_id: str) -> None:
    """Look every second; the run needs no page."""
    with messages.guarded():
        progress = rehearsals.service().progress(run_id)
        if progress is None:
            st.rerun()
        st.progress(min(max(progress.share, 0.0), 1.0), text=f"{progress.stage} …")


def _results(found: list[tuple[Run, Outcome]]) -> None:
    if found and (problem := found[-1][1].problem):
        st.error(f"The rehearsal stopped. {problem}", icon=":material/error:")
    lines = [
        {
            "Mechanism": offline[run.plan.mechanism].title,
            "ε": number(run.plan.budget.epsilon),
            "Mean error": f"±{in_rows(error.mean * outcome.rows)} ({100 * error.mean:.3g} %)",
            "Largest error": f"±{in_rows(error.largest * outcome.rows)} ({100 * error.largest:.3g} %)",
            "Took": duration(outcome.seconds),
            "Class": error.sentence,
            "Public rows": run.standin,
        }
        for run, outcome in reversed(found)
        for error in outcome.errors
    ]
    if lines:
        st.dataframe(
            pd.DataFrame(lines), hide_index=True, alt="Mean and largest error per rehearsal and class, newest first."
        )
        messages.note("Errors on public rows, with fresh noise in each rehearsal; the real table may differ.", "public")


def _standins(desk: Desk, table: DeskTable, statement: Statement, rows: int) -> dict[str, tuple[str, Maker]]:
    """Every kind of public rows there is for this table: words, and how to make them."""
    found: dict[str, tuple[str, Maker]] = {}
    if _is_demo(table.domain):
        found[DEMO] = ("the demo table, which is invented", lambda: _of(_demo(), table))
    for entry in statement.entries:
        if entry.status == "stored" and entry.dataset_id == table.id and is_release(entry):
            made = _released(desk, table, entry.plan_id)
            found[f"{EARLIER}{entry.plan_id}"] = (f"earlier release: {spend_list.line(entry, table)}", made)
    found[UNIFORM] = (f"{amount(rows)} rows drawn uniformly from the schema", lambda: _uniform(table, rows))
    return found


def _released(desk: Desk, table: DeskTable, plan_id: str) -> Maker:
    def make() -> StandIn:
        release = desk.result(plan_id)
        if release is None:
            raise Unknown("The stored release cannot be found.")
        return _of(release.records(), table)

    return make


def _of(frame: pd.DataFrame, table: DeskTable) -> StandIn:
    return StandIn.of(frame, without_counts(table.domain), table.unit)


def _uniform(table: DeskTable, rows: int) -> StandIn:
    most = MOST_VALUES // len(table.domain)
    if rows > most:
        raise Refused(f"{amount(rows)} invented rows are too many to hold; guess at most {amount(most)}.")
    generator = np.random.default_rng()
    return lawful_rows(StandIn.uniform(table.domain, table.unit, rows, generator), generator)


def _demo() -> pd.DataFrame:
    path = state.demo_file()
    if path is None:
        raise Unknown("The demo table cannot be found.")
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


@st.cache_resource(max_entries=1, show_spinner=False)
def _demo_domain() -> Domain | None:
    return None if state.demo_file() is None else Domain.from_json(state.demo_schema())


def _is_demo(domain: Domain) -> bool:
    """Whether the demo table has these very columns; what the notes say does not matter."""
    demo = _demo_domain()
    return demo is not None and _described(demo) == _described(domain)


def _described(domain: Domain) -> list[dict[str, object]]:
    return [{part: value for part, value in column.items() if part != "note"} for column in domain.to_list()]
