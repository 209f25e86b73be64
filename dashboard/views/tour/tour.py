"""Six steps from a demo table to a published release; one box above each page, gone as soon as it is left."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard.views.common import state
from dashboard.views.data import sources_form

MAIN = "tour-next"


@dataclass(frozen=True)
class TourStep:
    """What to do on one page, and why."""

    page: str
    file: str
    text: str
    acts: bool = True
    """Whether the page has a main button of its own; where it has none, the way to the next step is the main one."""


STEPS = (
    TourStep(
        "Data",
        "steps/data.py",
        "Leave the demo table as it is. Step 2 says whose privacy is protected: here several rows can belong to one "
        "person. Press **Open this table**. Its rows stay here; the schema and the budget are public.",
    ),
    TourStep(
        "Plan",
        "steps/plan.py",
        "Choose what to release and how much of the budget it may cost. The errors and the time of every way to do it "
        "are tried on invented tables before you pay. The first choices are fine.",
    ),
    TourStep(
        "Release",
        "steps/release.py",
        "Read the summary and press **Release** once. It is paid for good, and the files appear here: records, tables, "
        "a report, a certificate. Share it with a title.",
    ),
    TourStep(
        "Accuracy",
        "steps/accuracy.py",
        "Only you see this page: the release beside the real table, with a score, every column and every pair. "
        "Nothing here can be exported.",
        acts=False,
    ),
    TourStep(
        "Budget",
        "steps/budget.py",
        "Every release takes from one budget. When it is used up, nobody learns more about a person than was promised.",
        acts=False,
    ),
    TourStep(
        "Shared",
        "steps/shared.py",
        "This is what visitors see of the releases that you share: who publishes, what is promised, the files, and how "
        "to cite them. That is all; now bring your own table.",
    ),
)


def offer() -> None:
    """The button that starts it, with the demo table; a page other than the first one then leads there."""
    if st.button("Take the tour in six steps", icon=":material/tour:", key="tour-begin", on_click=begin):
        st.switch_page(STEPS[0].file)


def begin() -> None:
    """The callback of that button."""
    st.session_state["source"] = sources_form.DEMO_TABLE
    state.session().tour = 0


def show(page: str) -> None:
    """The box above a page; nothing where no tour is under way. Whoever comes to the next page has made that step.

    The way there is a link: a switch by the server can meet what still watches the page that is left, and show nothing.
    """
    here = state.session()
    if here.tour is None:
        return
    following = STEPS[here.tour + 1 :]
    if following and page == following[0].page:
        here.tour += 1
        following = following[1:]
    step = STEPS[here.tour]
    with st.container(border=True, key="tour"):
        st.markdown(f"**Tour, step {here.tour + 1} of {len(STEPS)}: {step.page}**")
        st.write(step.text if page == step.page else "You have gone elsewhere, which is fine.")
        with st.container(horizontal=True, vertical_alignment="center"):
            if page != step.page:
                st.page_link(step.file, label=f"Back to {step.page}", icon=":material/tour:")
            elif following:
                _next(following[0], main=not step.acts)
            st.button("Leave the tour" if following else "End the tour", icon=":material/close:", on_click=leave)


def _next(step: TourStep, *, main: bool) -> None:
    """The look of the main one is in `dashboard/look.py`."""
    with st.container(key=MAIN if main else None, width="content"):
        st.page_link(step.file, label=f"Next: {step.page}", icon=":material/arrow_forward:")


def leave() -> None:
    state.session().tour = None
