"""Attack my release: curator only. Nothing here is public, cached beyond the visit, or offered as a file."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.odds import percent_up
from core.desk.desk import Desk
from core.desk.release_attacks import AttackedRelease
from core.plans.statements import DeskTable
from core.plans.terms import is_release
from dashboard.door import access
from dashboard.views.budget import spend_list
from dashboard.views.common import messages, state
from dashboard.views.common.wording import percent
from dashboard.views.limits import bound_charts
from dashboard.views.limits.attack_work import AttackWork

WORK = "limits-attack-work"
STATUS: messages.Visibility = "curator only"


def show() -> None:
    """Asked once more here who looks: whatever lists this section, a visitor never sees it."""
    if access.role() != "curator":
        return
    st.header("Attack my release", divider="gray")
    st.warning(
        "Curator only. These figures are computed from private rows: do not copy them into anything that leaves this "
        "desk. Nothing is spent, stored or published by an attack.",
        icon=":material/lock:",
    )
    desk = state.desk()
    tables = desk.tables()
    if not tables:
        st.info("There is no table at this desk yet.", icon=":material/table:")
        return
    table = state.choose_table(tables)
    stored = {
        entry.plan_id: spend_list.line(entry, table)
        for entry in desk.statement(table).entries
        if entry.status == "stored" and entry.dataset_id == table.id and is_release(entry)
    }
    if not stored:
        st.info("This table has no stored release yet.", icon=":material/publish:")
        return
    _form(desk, table, stored)
    work: AttackWork | None = st.session_state.get(WORK)
    if work is None or work.plan_id not in stored:
        return
    if work.progress is not None:
        _watch(work)
    elif work.problem is not None:
        st.error(work.problem, icon=":material/error:")
    elif work.found is not None:
        _found(work.found)


def _form(desk: Desk, table: DeskTable, stored: dict[str, str]) -> None:
    st.write(
        "An attacker knows a person's row and asks: are they in the table, and what is their secret? Every row is put "
        "in or out by a coin and the release is made again with the same terms, because only somebody outside can be "
        "accused wrongly. Beside it stand three things that people do instead."
    )
    left, right = st.columns(2)
    chosen = left.selectbox("Release", list(stored), format_func=stored.__getitem__, key="limits-attack-release")
    names = list(table.domain.names)
    secret = right.selectbox(
        "Secret column", names, index=len(names) - 1, key="limits-attack-secret",
        help="What the attacker wants to know of somebody whose other columns are known.",
    )  # fmt: skip
    if st.button("Attack", icon=":material/swords:", key="limits-attack"):
        work = AttackWork(chosen, secret)
        st.session_state[WORK] = work
        work.start(desk)


@st.fragment(run_every=1)
def _watch(work: AttackWork) -> None:
    with messages.guarded():
        progress = work.progress
        if progress is None:
            st.rerun()
        st.progress(progress.share, f"{progress.stage} …")


def _found(attacked: AttackedRelease) -> None:
    report = attacked.report
    figure, alt = bound_charts.advantages(report.found, attacked.bound)
    st.plotly_chart(figure, alt=alt, key="limits-advantages", config={"displayModeBar": False})
    lines = [
        {
            "Published": one.name,
            "Who is inside": f"{percent_signed(_mean(one.membership))} (most {percent_signed(_most(one.membership))})",
            "The secret": f"{percent_signed(_mean(one.attribute))} (most {percent_signed(_most(one.attribute))})",
        }
        for one in report.found
    ]
    st.table(pd.DataFrame(lines), hide_index=True, alt="Mean and largest advantage of each publication.")
    sampled = f" a random sample of {report.rows:,} rows, because the table has more;" if report.sampled else ""
    messages.note(
        f"Advantages of {len(report.found[0].membership)} runs on {report.targets:,} targets each, half of them "
        f"inside;{sampled} bars are two standard errors. At ε {attacked.epsilon:g} and δ {attacked.delta:g} nobody "
        f"expects more than {percent_up(attacked.bound)} %. The groups are of at least five rows that share ranges "
        "(k-anonymity), the exact tables of four columns each.",
        STATUS,
    )
    messages.note(
        f"The stored release itself: from the other columns it gives the secret of {percent(attacked.stored.right)} of "
        f"{attacked.stored.people:,} rows of the table; {percent(attacked.stored.common)} have the most common one.",
        STATUS,
    )


def percent_signed(share: float) -> str:
    """Shares that may be below 0.

    >>> percent_signed(0.25), percent_signed(-0.02)
    ('25 %', '-2.0 %')
    """
    return percent(share) if share >= 0 else f"-{percent(-share)}"


def _mean(runs: tuple) -> float:
    return float(sum(run.value for run in runs) / len(runs))


def _most(runs: tuple) -> float:
    return float(max(run.value for run in runs))
