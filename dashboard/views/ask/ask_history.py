"""What a session has said: a running chart, the transcript, and how far plain noise would have got."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from core.base.wording import amount, plural
from core.mechanisms.online.online_laplace import answerable
from core.sessions.answer import Answer, Summary
from core.sessions.session import Session
from dashboard.views.ask import running_chart
from dashboard.views.common import messages
from dashboard.views.common.wording import LINE, TWO_LINES, number, percent

SHOWN = 200
DRAWN = 1_000
"""Answers in the chart, the newest."""
Visitor = Literal["curator", "visitor"]


def show(session: Session, who: Visitor) -> None:
    answers, summary = session.transcript(), session.summary()
    st.header("So far", divider="gray")
    asked, hard, left = st.columns(3)
    asked.metric("Questions", amount(summary.questions), border=True)
    hard.metric("Hard ones", amount(summary.hard), border=True)
    left.metric("Hard answers left", "no limit" if summary.left is None else amount(summary.left), border=True)
    messages.note(_hardness(session, summary), "released")
    messages.note(f"It has room for {amount(summary.room)} questions altogether, easy ones included.", "public")
    _budget(summary)
    _mixing(session)
    if not answers:
        st.write("Nothing was asked yet.")
    else:
        _chart(session, answers, summary)
        _transcript(session, answers)
    if who == "curator" and summary.status == "open":
        _close(session)


def _hardness(session: Session, summary: Summary) -> str:
    """What makes a question of this session a hard one."""
    if summary.left is None:
        return "No question is hard: all are answered from what is public already."
    # What was said in a closed session is shown whether or not its state can still be read.
    if summary.status == "open" and session.measures_all():
        return "Every question is hard: each is measured anew, and only what was asked before is free."
    return (
        "A question is hard where what is known already turned out to be too far off, so that it was measured; which "
        "ones were hard follows from the answers."
    )


def _budget(summary: Summary) -> None:
    reserved = f"ε {number(summary.budget.epsilon)}, δ {number(summary.budget.delta)} was reserved when it opened"
    if summary.budget.pure:
        reserved += " (its noise needs no δ)"
    share = f"{percent(summary.budget_share)} of the table's total budget"
    if summary.given_back:
        line = f"{reserved}. {percent(summary.given_back)} of the table's total budget came back; it took {share}."
    else:
        line = f"{reserved}: {share}."
    messages.note(line, "public")


def _mixing(session: Session) -> None:
    """Whether the possible tables behind the answers look as if they were drawn independently."""
    mixing = session.mixing()
    if mixing is None:
        return
    figures = f"split R-hat {mixing.rhat:.3f} at the worst question, as good as {amount(round(mixing.effective))} draws"
    if mixing.good:
        line = f"The tables behind its answers were drawn by a random walk that looks mixed: {figures}. "
        messages.note(line + "1 is perfect and up to 1.05 is good; it can disprove mixing, never prove it.", "released")
    else:
        st.warning(
            f"The random walk behind its answers has not mixed: {figures} (above 1.05). Easy answers may be off; "
            "their privacy does not depend on it.",
            icon=":material/shuffle:",
        )


def _chart(session: Session, answers: list[Answer], summary: Summary) -> None:
    plain = _plain(session, answers)
    figure, alt = running_chart.draw(answers[-DRAWN:], summary.limit, plain)
    st.plotly_chart(figure, alt=alt, key=f"session-chart-{session.id}", config={"displayModeBar": False})
    if plain is not None:
        reached = "Enough for all of them" if plain >= len(answers) else f"It would have ended after {amount(plain)}"
        messages.note(
            f"Fresh noise for every question could answer {plural(plain, 'question')} as exactly for the same budget. "
            f"{reached}.",
            "public",
        )


def _plain(session: Session, answers: list[Answer]) -> int | None:
    """Questions that fresh noise could answer with the typical margin of this session."""
    margins = sorted(answer.margin for answer in answers if answer.margin is not None)
    return answerable(session.budget, session.unit, margins[len(margins) // 2]) if margins else None


def _transcript(session: Session, answers: list[Answer]) -> None:
    newest = list(reversed(answers))[:SHOWN]
    st.dataframe(
        pd.DataFrame(
            {
                "#": [answer.number for answer in newest],
                "Question": [answer.words for answer in newest],
                "Share": [100 * answer.share for answer in newest],
                "Rows": [round(answer.count) for answer in newest],
                "±": [None if answer.margin is None else round(answer.margin) for answer in newest],
                "Kind": [answer.kind for answer in newest],
            }
        ),
        hide_index=True,
        column_config={
            "#": st.column_config.NumberColumn(width=50),
            "Share": st.column_config.NumberColumn(format="%.2f %%"),
            "Rows": st.column_config.NumberColumn(format="localized"),
            "±": st.column_config.NumberColumn(format="localized"),
        },
        row_height=TWO_LINES if any(len(answer.words) > LINE for answer in newest) else None,
        alt="The newest answers of the session.",
    )
    listed = f"{plural(len(newest), 'answer')} of {amount(len(answers))}"
    messages.note(f"{listed}; all of them may be published.", "released")
    st.download_button(
        "Save the transcript",
        session.transcript_csv,
        file_name="transcript.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=f"transcript-{session.id}",
    )


def _close(session: Session) -> None:
    with st.popover("Close the session", icon=":material/lock:"):
        st.write("It will take no more questions, for good. What it never used of its budget comes back.")
        st.button("Close it", on_click=session.close, key=f"close-{session.id}")
