"""Choose the questions, epsilon per person and how many are expected; see what to expect before anybody is asked."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.base.arrays import Columns
from core.base.errors import DeskError
from core.base.wording import amount
from core.desk.desk import Desk
from core.local.design import QuestionDesign, expectations, people_needed, plan_collection
from core.local.expected import METRICS
from core.local.plan import CollectPlan, described
from core.local.question import WANTED, LocalQuestion
from core.privacy.budget import exact
from core.registry import randomisers
from core.schema.domain import Domain
from dashboard.views.collect import collect_charts
from dashboard.views.common import messages, state
from dashboard.views.common.wording import percent
from dashboard.views.data import upload
from dashboard.views.data.schema_files import LARGEST

DEMO, FILE = "the demo's schema", "a schema file"
RECOMMENDED = "recommended"
KEY = "collect-plan"


def design(desk: Desk) -> CollectPlan | None:
    """The plan under work, or None with a sentence on what is missing."""
    domain = _schema(desk)
    if domain is None:
        return None
    title = st.text_input("Title", "Questionnaire", key="collect-title", persist_state="session", max_chars=200)
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        epsilon = st.text_input(
            "Epsilon (ε) per person", "1", key="collect-epsilon", persist_state="session",
            help="From 0.001 to 20. What everybody is promised, for all of their answers together.",
        )  # fmt: skip
    with middle:
        people = st.number_input(
            "People expected to answer", 10, 10**9, 10_000, step=1_000, key="collect-people", persist_state="session"
        )
    with right:
        asked = st.segmented_control(
            "Each person answers", ["one", "all"], default="one", required=True, key="collect-asked",
            format_func=lambda each: "one question, drawn" if each == "one" else "all questions",
            help="One question drawn on the device gets all of ε; all questions share it, which is far less exact.",
            persist_state="session",
        )  # fmt: skip
    questions, by_hand = _questions(domain)
    if not questions:
        st.info("Choose at least one column to ask about.", icon=":material/help:")
        return None
    try:
        chosen = _plan(domain.to_json(), title, epsilon.strip(), int(people), str(asked), tuple(questions), by_hand)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    _expected(chosen)
    return chosen


def _schema(desk: Desk) -> Domain | None:
    """A public schema: of a table at this desk, of the demo, or from a file; rows are never looked at."""
    tables = {table.id: table for table in desk.tables()}
    labels = state.table_labels(list(tables.values()))
    chosen = st.selectbox(
        "Columns of",
        [*tables, DEMO, FILE],
        format_func=lambda each: labels.get(each, each),
        key="collect-schema",
        help="Only the public schema is used. No row of any table is looked at on this page.",
    )
    if chosen in tables:
        return tables[chosen].domain
    if chosen == DEMO:
        return Domain.from_json(state.demo_schema())
    file = st.file_uploader("Schema", type="json", key="collect-schema-file")
    if file is None:
        st.info(
            "A schema.json that was saved on the page Data, or that came with a release.", icon=":material/upload_file:"
        )
        return None
    try:
        return Domain.from_json(upload.text_of(file, "schema", LARGEST))
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
    return None


def _questions(domain: Domain) -> tuple[list[LocalQuestion], tuple[tuple[Columns, str], ...]]:
    """What is asked, of single columns and of pairs that are asked together; and randomisers chosen by hand."""
    usable = [name for name in domain.names if domain[name].size > 1]
    columns = st.multiselect(
        "Questions", usable, default=usable[:4], key="collect-columns", persist_state="session",
        help="One question per column. Fewer questions mean more people for each.",
    )  # fmt: skip
    pairs = st.multiselect(
        "Columns asked together", [f"{one} × {other}" for one, other in _pairs(columns)], key="collect-pairs",
        persist_state="session",
        help="A pair is one more question, about both columns at once: it shows how they depend on each other.",
    )  # fmt: skip
    found = []
    with st.expander("What is wanted, and by which randomiser", icon=":material/tune:"):
        st.write(
            "Say from public knowledge where neighbouring answers are about equally frequent, such as ages; not where "
            "people round off, such as hours of work."
        )
        for name in (each for each in usable if each in columns):
            found.append(_asked(domain, (name,)))
        for pair in (each for each in _pairs(columns) if f"{each[0]} × {each[1]}" in pairs):
            found.append(_asked(domain, pair))
    chosen = tuple((question.columns, name) for question, name in found if name != RECOMMENDED)
    return [question for question, _ in found], chosen


def _pairs(columns: list[str]) -> list[tuple[str, str]]:
    return [(one, other) for place, one in enumerate(columns) for other in columns[place + 1 :]]


def _asked(domain: Domain, columns: Columns) -> tuple[LocalQuestion, str]:
    """One question, and the name of its randomiser or that the recommended one is taken."""
    attribute, key = domain[columns[0]], f"collect-{'-'.join(columns)}"
    in_order = len(columns) == 1 and attribute.ordered and attribute.size == attribute.regular
    first, second, third = st.columns(3, vertical_alignment="bottom")
    wanted: Any = "shares"
    with first:
        offered = [
            each for each in WANTED if each == "shares" or (in_order and (each == "ranges" or attribute.numeric))
        ]
        name = messages.plain(" × ".join(columns))
        wanted = st.selectbox(f"{name}: wanted", offered, key=f"{key}-wanted")
    with second:
        smooth = st.toggle(f"{name} is smooth", key=f"{key}-smooth", disabled=not in_order) and in_order
    question = LocalQuestion(columns=columns, wanted=wanted, smooth=bool(smooth))
    with third:
        names = [RECOMMENDED, *question.offered(domain)]
        chosen = st.selectbox(
            f"{name}: randomiser", names, key=f"{key}-randomiser",
            format_func=lambda each: each if each == RECOMMENDED else f"{randomisers[each].title} ({each})",
        )  # fmt: skip
    return question, str(chosen)


@st.cache_resource(scope="session", max_entries=20, show_spinner="Trying the randomisers on public shapes …")
def _plan(
    schema: str,
    title: str,
    epsilon: str,
    people: int,
    asked: str,
    questions: tuple[LocalQuestion, ...],
    by_hand: tuple[tuple[Columns, str], ...],
) -> CollectPlan:
    return plan_collection(
        Domain.from_json(schema), epsilon=exact(epsilon, "epsilon"), people=people, questions=questions, title=title,
        asked="all" if asked == "all" else "one", fixed=dict(by_hand),
    )  # fmt: skip


@st.cache_resource(scope="session", max_entries=20, show_spinner="Trying the randomisers on public shapes …")
def _expectations(_plan: CollectPlan, plan_id: str) -> tuple[QuestionDesign, ...]:
    return expectations(_plan)


def _expected(plan: CollectPlan) -> None:
    """What every figure is likely to be off by, and what it would be with a trusted curator."""
    found = _expectations(plan, plan.id)
    lines = [
        {
            "Question": described(each.question),
            # Only where it tells the questions apart: a phone has room for few columns.
            **({"Wanted": each.question.wanted} if len({one.question.wanted for one in found}) > 1 else {}),
            "Randomiser": randomisers[each.question.randomiser].title,
            "People": f"about {amount(round(each.people))}",
            "Error": percent(each.error),
            "If trusted": percent(each.central),
        }
        for each in found
    ]
    cells = [{name: messages.plain(text) for name, text in line.items()} for line in lines]
    st.table(pd.DataFrame(cells), hide_index=True, alt="Every question with its randomiser and expected error.")
    kinds = sorted({each.question.wanted for each in found})
    messages.note(
        f"Expected errors, tried on public shapes. {'; '.join(f'Of {kind}: {METRICS[kind]}' for kind in kinds)}. "
        "If trusted: what a curator who holds the answers would have.",
        "public",
    )
    figure, alt = collect_charts.compared([(described(each.question), each) for each in found])
    st.plotly_chart(figure, alt=alt, key="collect-compared", config={"displayModeBar": False})
    messages.note(
        f"One mark per randomiser and question, the lowest is recommended; diamonds: a trusted curator. "
        f"ε {float(plan.epsilon):g} per person, {float(plan.part):g} per answer.",
        "public",
    )
    _needed(plan)


def _needed(plan: CollectPlan) -> None:
    with st.expander("How many people does an error need?", icon=":material/groups:"):
        left, right = st.columns(2, vertical_alignment="bottom")
        with left:
            place = st.selectbox(
                "Question",
                range(len(plan.questions)),
                format_func=lambda at: described(plan.questions[at]),
                key="collect-need",
            )
        with right:
            wanted = st.number_input("Wanted error, in %", 0.1, 50.0, 5.0, step=0.5, key="collect-error", format="%g")
        count = _people(plan, plan.id, int(place), float(wanted) / 100)
        said = (
            "No number of people is enough." if count is None else f"About {amount(count)} people must answer in all."
        )
        messages.note(said, "public")


@st.cache_resource(scope="session", max_entries=50, show_spinner=False)
def _people(_plan: CollectPlan, plan_id: str, place: int, error: float) -> int | None:
    return people_needed(_plan, place, error)
