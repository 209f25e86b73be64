"""Composing one question, by clicking or as a formula, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.base.errors import DeskError
from core.base.wording import plural, rows
from core.formulas.question import canonical, cell_text, halfspace_text, question
from core.formulas.spans import Span
from core.formulas.sql.grammar import is_select
from core.kernel.query import Statistic
from core.schema.domain import Domain
from core.sessions.answer import Answer
from core.sessions.asked_release import AskedRelease
from core.sessions.question import SessionQuestion
from core.sessions.session import Session
from core.sessions.visit import UNLISTED, Visit
from dashboard.views.ask import numbers_form, select_view, statistic_form
from dashboard.views.common import charts, messages, state

OpenToQuestions = Session | AskedRelease
Composed = str | Statistic
"""A question as it was put together: a formula, a SELECT, or a statistic that neither can say."""
MOST_STEPS = 1_000
KINDS = {
    "easy": ("Easy: answered from what is public already.", "blue"),
    "hard": ("Hard: measured with fresh noise.", "violet"),
    "unchecked": ("Unchecked: not compared with the table.", "orange"),
}


@dataclass(frozen=True, kw_only=True)
class Guest:
    """What a visitor may ask in one visit."""

    most: int
    """Questions altogether."""
    hard: int
    """Hard answers."""
    kept: int
    """Hard answers that visitors leave to the curator."""

    def visit(self, here: state.PageState, session: Session) -> Visit:
        return Visit(session=session, hard=self.hard - here.taken.get(session.id, 0), kept=self.kept)

    def asks(self, here: state.PageState, asked: OpenToQuestions) -> Visit | AskedRelease:
        return asked if isinstance(asked, AskedRelease) else self.visit(here, asked)


def show(here: state.PageState, session: Session, guest: Guest | None = None) -> None:
    """The composer, and the answer to the last question; without a guest the curator asks."""
    if session.status == "closed":
        why = "could not go on and is closed" if session.summary().reason == "failed" else "is closed"
        st.info(f"This session {why}; its transcript stays below.", icon=":material/lock:")
        return
    st.header("Question", divider="gray")
    _box(here, session, guest)


def of_release(here: state.PageState, asked: AskedRelease, most: int) -> None:
    """The same for a release that anybody may ask, so many questions in a visit."""
    _box(here, asked, Guest(most=most, hard=0, kept=0))


def _box(here: state.PageState, session: OpenToQuestions, guest: Guest | None) -> None:
    ways: dict[str, Callable[[Domain, str], Composed | None]] = {
        "A group": _cell,
        "Numbers by group": numbers_form.compose,
        "An interval": _interval,
        "A weighted sum": _halfspace,
        "A formula or SQL": _formula,
    }
    if session.answers_statistics:
        ways["A statistic"] = statistic_form.compose
    way = st.segmented_control(
        "Compose it as", list(ways), default="A group", required=True, key=f"way-{session.id}", persist_state="session"
    )
    try:
        text = ways[way](session.domain, session.id)
        if text is None:
            return
        _say(text, session)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return
    st.button(
        "Ask", type="primary", icon=":material/send:", on_click=_ask, args=(here, session, text, guest), key="ask"
    )
    if here.problem:
        st.error(here.problem, icon=":material/error:")
        here.problem = None
    if here.answered is not None and here.answered[0] == session.id:
        answer = here.answered[1]
        if isinstance(answer, Answer):
            _reply(answer, session.free)
        else:
            select_view.show(answer, session.id, free=session.free, stays=session.free or guest is None)


def _say(text: Composed, session: OpenToQuestions) -> None:
    """What is about to be asked, in words."""
    if isinstance(text, Statistic):
        asked = SessionQuestion.of(text, session.domain).words
    elif is_select(text):
        price = session.sql_price(text)
        # Of a release every answer is free.
        asks = f"It asks at most {plural(price.questions, 'question')}."
        messages.note(asks if session.free else price.sentence(), "public")
        return
    else:
        asked = question(text, session.domain).words
        st.code(canonical(text, session.domain), language=None, wrap_lines=True)
    messages.note(messages.plain(asked[:1].upper() + asked[1:]) + ".", "public")


def _ask(here: state.PageState, session: OpenToQuestions, text: Composed, guest: Guest | None) -> None:
    """In the button's callback: an answer is stored before it is shown, so a click elsewhere loses nothing.

    The answer to the question before goes first: below a refusal it would be taken for this one's.
    """
    here.answered = None
    try:
        statement = text if isinstance(text, str) and is_select(text) else None
        questions = session.sql_price(statement).questions if statement else 1
        single = None if statement else text if isinstance(text, Statistic) else question(text, session.domain)
        if guest is None and isinstance(session, Session):
            here.answered = (session.id, session.sql(statement or "") if single is None else session.answer(single))
            return
        assert guest is not None
        if here.asked + questions > guest.most:
            here.problem = (
                f"This visit has asked {here.asked:,} of its {guest.most:,} questions; leave the rest to others."
            )
            return
        here.asked += questions
        visit = guest.asks(here, session)
        found, taken = visit.sql(statement or "") if single is None else visit.answer(single)
        here.taken[session.id] = here.taken.get(session.id, 0) + taken
        here.answered = (session.id, found)
    except Exception as problem:
        here.problem = messages.sentence(problem)


def _promised(answer: Answer, free: bool) -> str:
    """How far the truth may be, in rows and as a share; two statements, for the number of rows has noise of its own."""
    said = []
    if answer.margin is not None:
        said.append(f"The true count is within ±{rows(answer.margin)}, 95 % of the time.")
    if answer.interval is not None:
        low, high = answer.interval
        said.append(f"The true share is between {100 * low:.2f} % and {100 * high:.2f} %, 95 % of the time.")
    if said:
        return " ".join(said)
    if free:
        return "No error is promised: the release behind this answer was not measured on such questions."
    return "No error is promised: this answer was not compared with the table, and may be far off."


def _reply(answer: Answer, free: bool) -> None:
    with st.container(border=True):
        st.markdown(f"**{messages.plain(answer.words[:1].upper() + answer.words[1:])}**")
        share, count, left = st.columns(3)
        share.metric("Share", f"{100 * answer.share:.2f} %")
        count.metric("Rows", f"{answer.count:,.0f}")
        if not free:
            left.metric("Hard answers left", "no limit" if answer.left is None else f"{answer.left:,}")
        text, color = KINDS[answer.kind]
        st.badge(text, color=color)  # type: ignore[arg-type]
        messages.note(_promised(answer, free), "released")
        if answer.number == UNLISTED:
            if not free:
                messages.note("It cost nothing, and is not in the transcript.", "released")
            return
        cost = "It took one hard answer." if answer.cost else "It cost nothing."
        messages.note(f"Question {answer.number}. {cost} Asking it again gives the same answer for free.", "released")


def _cell(domain: Domain, key: str) -> str | None:
    """Columns with one value each."""
    columns = st.multiselect(
        "Columns", domain.names, default=list(domain.names[:1]), key=f"cell-{key}", persist_state="session"
    )
    if not columns:
        st.info("Choose at least one column.", icon=":material/view_column:")
        return None
    chosen = {}
    for start in range(0, len(columns), 3):
        for place, name in zip(st.columns(3), columns[start : start + 3], strict=False):
            attribute = domain[name]
            code = place.selectbox(
                messages.plain(name), range(attribute.size), format_func=attribute.label, key=f"cell-{key}-{name}"
            )
            missing = attribute.missing and code == attribute.size - 1
            chosen[name] = None if missing else attribute.label(code)
    return cell_text(chosen)


def _interval(domain: Domain, key: str) -> str | None:
    """One ordered column between two of its values."""
    ordered = [attribute.name for attribute in domain if attribute.ordered]
    if not ordered:
        st.info("No column of this session has an order.", icon=":material/straighten:")
        return None
    name = st.selectbox("Column", ordered, key=f"interval-{key}")
    attribute = domain[name]
    places = charts.spread(attribute.regular, MOST_STEPS)
    first, last = st.select_slider(
        f"{messages.plain(name)} between",
        places,
        (places[len(places) // 4], places[len(places) // 2]),
        format_func=attribute.label,
        key=f"interval-{key}-{name}",
    )
    return Span(name, first, last + 1).text(domain, denied=False)


def _halfspace(domain: Domain, key: str) -> str | None:
    """A weighted sum of number columns that reaches a cut."""
    numbers = [attribute.name for attribute in domain if attribute.numeric and attribute.ordered]
    if not numbers:
        st.info("No column of this session has numbers.", icon=":material/functions:")
        return None
    columns = st.multiselect("Columns of numbers", numbers, default=numbers[:2], max_selections=5, key=f"sum-{key}")
    weights = {}
    for start in range(0, len(columns), 3):
        for place, name in zip(st.columns(3), columns[start : start + 3], strict=False):
            weights[name] = place.number_input(
                f"Weight of {messages.plain(name)}", value=1.0, step=0.1, format="%g", key=f"sum-{key}-{name}"
            )
    cut = st.number_input("At least", value=100.0, step=1.0, format="%g", key=f"cut-{key}")
    return halfspace_text(weights, cut)


def _formula(domain: Domain, key: str) -> str | None:
    text = st.text_input(
        "Formula",
        key=f"formula-{key}",
        persist_state="session",
        placeholder="age >= 65 and region in {north, east}, or SELECT region, COUNT(*) FROM t GROUP BY region",
        help=(
            "Comparisons (=, !=, <, <=, >, >=, between … and …, in {…}, is missing), joined by and, or, not. Or SQL: "
            "SELECT COUNT, SUM, AVG, MEDIAN or QUANTILE, FROM any name, WHERE, GROUP BY. It is read, never run."
        ),
    )
    with st.expander("Names that can be used", icon=":material/list:"):
        messages.note(", ".join(messages.plain(name) for name in domain.names), "public")
    return text if text.strip() else None
