"""The questionnaire to hand out, and the same for programs."""

from __future__ import annotations

import streamlit as st

from core.base.errors import DeskError
from core.local.kit.questionnaire import deniability, questionnaire
from core.local.plan import CollectPlan
from dashboard.views.common import messages

PROGRAM = """from core import CollectPlan, respond

plan = CollectPlan.from_json(open("{name}").read())
line = respond(plan, {{{answers}}})  # one person's answers in, one randomised line out"""


def show(plan: CollectPlan | None) -> None:
    if plan is None:
        st.info("Design the questions first.", icon=":material/arrow_upward:")
        return
    st.write(
        "One file that works without a network: it asks, changes the answer by chance on the respondent's own device, "
        "says in plain words what is sent and how deniable it is, and gives a short line to send. You see no answer."
    )
    try:
        page = questionnaire(plan).encode()
    except DeskError as problem:
        page = None
        st.warning(messages.sentence(problem), icon=":material/warning:")
    with st.container(horizontal=True):
        if page is not None:
            _file("Questionnaire (HTML)", page, f"questionnaire-{plan.id}.html", "text/html", "primary")
        _file("Plan", plan.to_json().encode(), f"plan-{plan.id}.json", "application/json", "secondary")
    messages.note(f"What every respondent reads: {messages.plain(deniability(plan))}", "public")
    with st.expander("For programs", icon=":material/code:"):
        answers = ", ".join(f'"{name}": …' for question in plan.questions[:3] for name in question.columns[:1])
        st.code(PROGRAM.format(name=f"plan-{plan.id}.json", answers=answers), language=None, wrap_lines=True)


def _file(label: str, content: bytes, name: str, kind: str, emphasis: str) -> None:
    st.download_button(
        label,
        content,
        file_name=name,
        mime=kind,
        type=emphasis,  # type: ignore[arg-type]
        icon=":material/download:",
        on_click="ignore",
        key=f"collect-{kind}",
    )
