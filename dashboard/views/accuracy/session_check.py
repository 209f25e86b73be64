"""Sessions beside the truth: how far their answers are off, and whether their intervals held."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.base.wording import plural
from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.sessions.compared import MOST_COMPARED, ComparedAnswer, compare_answers
from core.sessions.session import Session
from dashboard.views.accuracy import plain_table
from dashboard.views.common import messages
from dashboard.views.common.wording import moment

STATUS: messages.Visibility = "curator only"
WORST = 10


def show(desk: Desk, table: DeskTable) -> None:
    sessions = {session.id: session for session in desk.sessions(table) if session.summary().questions}
    if not sessions:
        return
    st.header("Sessions", divider="gray")
    chosen = st.selectbox(
        "Session",
        list(sessions),
        format_func=lambda identity: _called(sessions[identity]),
        key=f"accuracy-session-{table.id}",
    )
    found = compare_answers(sessions[chosen], desk.truth(table))
    messages.note(_summary(found), STATUS)
    worst = sorted(found, key=lambda answer: -answer.error)[:WORST]
    plain_table.show([_line(answer) for answer in worst], "The answers that are furthest off.")
    newest = f" of the newest {MOST_COMPARED}" if len(found) == MOST_COMPARED else ""
    messages.note(f"The {plural(len(worst), 'answer')}{newest} that are furthest off.", STATUS)


def _called(session: Session) -> str:
    return f"{session.mechanism.title} · opened {moment(session.opened)}"


def _summary(found: tuple[ComparedAnswer, ...]) -> str:
    errors = 100 * np.array([answer.error for answer in found])
    promised = [answer for answer in found if answer.inside is not None]
    held = sum(bool(answer.inside) for answer in promised)
    intervals = (
        f" {held} of {plural(len(promised), 'promised interval')} hold the truth; 95 % of them should."
        if promised
        else " No interval was promised."
    )
    return (
        f"{plural(len(found), 'answer')}: off by {errors.mean():.3f} % of the table on average, {errors.max():.3f} % "
        f"at most.{intervals}"
    )


def _line(answer: ComparedAnswer) -> dict[str, str]:
    return {
        "No.": str(answer.number),
        "Question": answer.words,
        "True": f"{100 * answer.truth:.3f} %",
        "Answered": f"{100 * answer.share:.3f} %",
        "Interval": {None: "none", True: "held", False: "missed"}[answer.inside],
    }
