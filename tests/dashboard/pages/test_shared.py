"""The public face: what is shared, what a visitor sees, and what a visitor cannot reach."""

from __future__ import annotations

from base64 import b64decode

import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.desk.kept.publisher import Publisher
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.marginals import Marginals
from core.registry import mechanisms, query_classes, randomisers
from dashboard.door import access
from dashboard.views.common.messages import plain
from dashboard.views.shared import link, publisher_form, shared_page
from tests.dashboard.listed import APP, CURATORS, EVERYBODYS
from tests.dashboard.pages.kit.elements import Open, button, errors, field, number, way, words


@pytest.fixture
def plan_id(desk: Desk, small: DeskTable) -> str:
    plan = desk.plan(small, [Marginals(order=2)], mechanism="gaussian", budget=Budget(1, "1e-9"))
    desk.release(plan)
    return plan.id


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "role", lambda: "visitor")


@pytest.mark.exhaustive
def test_nothing_is_shared_by_itself(page: Open, plan_id: str) -> None:
    assert "Nothing is shared yet" in words(page("shared"))


@pytest.mark.exhaustive
def test_share_and_take_down_from_the_release(page: Open, desk: Desk, plan_id: str) -> None:
    app = page("release")
    app.query_params["release"] = plan_id
    app.run()
    field(app, "Title").set_value("Visits by age").run()
    button(app, "Share it").click().run()
    assert not errors(app)
    assert [item.title for item in desk.shared_items.items()] == ["Visits by age"]
    links = [found.proto for found in app.get("page_link") if found.proto.label.startswith("Open it as visitors do")]
    assert [found.query_string for found in links] == [f"{link.LINK}={plan_id}"]
    button(app, "Take it down").click().run()
    assert desk.shared_items.items() == []


def test_a_visitor_sees_shared_releases_with_all_files(page: Open, desk: Desk, plan_id: str, visitor: None) -> None:
    desk.share(plan_id, title="Visits", note="From *one* clinic.")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not errors(app)
    assert app.title[0].value == "Shared"
    assert [download.label for download in app.get("download_button")][-1] == "Everything (ZIP)"
    assert r"From \*one\* clinic" in words(app)
    assert "curator only]" not in "".join(str(found.value) for found in app.main.markdown)


@pytest.mark.parametrize("name", CURATORS)
def test_a_visitor_cannot_reach_the_curators_pages(desk: Desk, plan_id: str, visitor: None, name: str) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    try:
        app.switch_page(f"steps/{name}.py").run()
    except ValueError:
        return
    shown = {title.value for title in app.title}
    assert shown <= set(EVERYBODYS.values())


@pytest.mark.exhaustive
def test_a_shared_session_can_be_asked_by_anybody(desk: Desk, small: DeskTable, visitor: None) -> None:
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=5)
    desk.share(session.id, title="Ask us", hard=50)
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    button(app, "Ask").click().run()
    assert not errors(app)
    assert len(session.transcript()) == 1
    assert all(found.label != "Close it" for found in app.button)


@pytest.mark.exhaustive
def test_a_visit_has_room_for_so_many_questions(
    desk: Desk, small: DeskTable, visitor: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_page, "MOST_OF_A_VISIT", 2)
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=50)
    desk.share(session.id, title="Ask us", hard=50)
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    way(app, "A formula or SQL")
    for age in (20, 40, 60, 80):
        field(app, "Formula").set_value(f"age >= {age}").run()
        button(app, "Ask").click().run()
    assert "asked 2 of its 2 questions" in errors(app)[0]
    assert "room for 2 questions; 2 asked so far" in words(app)
    assert len(session.transcript()) == 2


@pytest.mark.exhaustive
def test_a_visit_counts_every_question_of_a_statement(
    desk: Desk, small: DeskTable, visitor: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_page, "MOST_OF_A_VISIT", 5)
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=50)
    desk.share(session.id, title="Ask us", hard=50)
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    way(app, "A formula or SQL")
    for parts in (3, 2, 1):
        listed = ", ".join(f"COUNT(*) AS n{place}" for place in range(parts))
        field(app, "Formula").set_value(f"SELECT {listed} FROM t WHERE age >= {20 * parts}").run()
        button(app, "Ask").click().run()
    assert "asked 5 of its 5 questions" in errors(app)[0]
    assert len(session.transcript()) == 2


@pytest.mark.exhaustive
def test_help_lists_everything_registered(page: Open, desk: Desk) -> None:
    app = page("help")
    assert not errors(app)
    listed = _listed(app)
    assert {plain(name) for name in (*query_classes, *mechanisms, *randomisers)} <= listed
    assert {plain(desk.folder), "a file in the workspace"} <= listed


def test_a_visitor_sees_no_path(desk: Desk, visitor: None) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60).run().switch_page("steps/help.py").run()
    assert str(desk.folder) not in words(app)
    assert plain(desk.folder) not in _listed(app)


def _listed(app: AppTest) -> set[str]:
    """The text of every cell of the page's tables."""
    found = {str(text) for table in app.table for text in table.value.to_numpy().ravel()}
    assert found
    return found


@pytest.mark.exhaustive
def test_a_stranger_reads_who_publishes_and_how_to_cite(page: Open, desk: Desk, plan_id: str) -> None:
    desk.share(plan_id, title="Visits")
    app = page("shared")
    field(app, "Organisation").set_value("Office *of* Statistics")
    field(app, "Licence").set_value("CC BY 4.0")
    field(app, "Logo").set_value("O<S>")
    button(app, "Save").click().run()
    assert not errors(app)
    [sign] = app.get("image")
    drawn = b64decode(sign.proto.imgs[0].url.partition("base64,")[2])
    assert sign.proto.imgs[0].alt == "O<S>" and b"O&lt;S&gt;" in drawn
    said = words(app)
    assert r"Published by Office \*of\* Statistics" in said and "CC BY 4" in said
    cited, _ = [str(found.value) for found in app.get("code")]
    assert (
        cited.startswith("Office *of* Statistics (20")
        and f"(epsilon = 1, delta = 1e-09). Release {plan_id[:16]}." in cited
    )


def test_what_the_publisher_says_takes_the_place_of_no_explanation(desk: Desk, plan_id: str, visitor: None) -> None:
    desk.share(plan_id, title="Visits")
    for about, licence in (("", ""), ("Numbers for planners.", "CC BY 4.0")):
        desk.publisher.write(Publisher(about=about, licence=licence))
        said = words(AppTest.from_file(str(APP), default_timeout=60).run())
        assert plain(about) in said and publisher_form.WHAT in said and shared_page.SYNTHETIC in said
        # A licence says itself what may be done with a number.
        assert (publisher_form.FREE in said) is not bool(licence)


def test_anybody_may_ask_a_shared_release(
    desk: Desk, plan_id: str, visitor: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the spot and for free: no session is opened, nothing is spent, and nothing is kept of who asks what."""
    desk.share(plan_id, title="Visits")
    before = [entry.plan_id for entry in desk.ledger.entries()]
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    button(app, "Ask").click().run()
    assert not errors(app)
    assert [metric.label for metric in app.metric] == ["Share", "Rows"], "nothing is hard, so nothing is left of it"
    assert "No error is promised: the release behind this answer was not measured" in words(app)
    way(app, "A formula or SQL")
    field(app, "Formula").set_value("SELECT COUNT(*), AVG(age) FROM t WHERE age >= 20").run()
    button(app, "Ask").click().run()
    assert not errors(app) and "It rests on" in words(app) and "hard" not in words(app).split("It rests on")[1][:60]
    assert [entry.plan_id for entry in desk.ledger.entries()] == before and not desk.sessions()

    monkeypatch.setattr(shared_page, "MOST_OF_A_VISIT", 1)
    app.run()
    button(app, "Ask").click().run()
    assert "of its 1 questions" in errors(app)[0]


def test_a_release_that_can_answer_nothing_is_not_asked(
    desk: Desk, plan_id: str, visitor: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_page.AskedRelease, "answers_questions", False)
    shared_page._opened.clear()
    desk.share(plan_id, title="Visits")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not errors(app) and "Counts" in [found.value for found in app.subheader]
    assert "Ask it a question" not in [found.value for found in app.subheader]


def test_a_visitor_cannot_change_who_publishes(desk: Desk, plan_id: str, visitor: None) -> None:
    desk.share(plan_id, title="Visits")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not [found for found in app.text_input if found.label == "Organisation"]


@pytest.mark.exhaustive
def test_several_items_are_cards_and_the_address_names_the_open_one(page: Open, desk: Desk, plan_id: str) -> None:
    desk.share(plan_id, title="Visits")
    session = desk.ask(desk.tables()[0], release=plan_id)
    desk.share(session.id, title="Ask us", note="long " * 100)
    app = page("shared")
    assert not app.header, "a stranger first sees what there is"
    app.button(key=f"open-{plan_id}").click().run()
    assert app.header[0].value == "Visits"
    button(app, "All 2 that are published").click().run()
    app.button(key=f"open-{session.id}").click().run()
    assert app.header[0].value == "Ask us" and not errors(app)


@pytest.mark.exhaustive
def test_a_link_to_what_was_taken_down_leads_to_the_others(page: Open, desk: Desk, plan_id: str) -> None:
    desk.share(plan_id, title="Visits")
    session = desk.ask(desk.tables()[0], release=plan_id)
    desk.share(session.id, title="Ask us")
    app = page("shared")
    app.query_params["item"] = "gone"
    app.run()
    assert "not shared any more" in words(app)
    assert {f"open-{plan_id}", f"open-{session.id}"} <= {found.key for found in app.button}


def test_a_closed_session_says_how_it_went_and_invites_nobody(desk: Desk, small: DeskTable, visitor: None) -> None:
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=5)
    desk.share(session.id, title="Ask us")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert "Every question is hard: each is measured anew" in words(app)
    session.close()
    app.run()
    assert not errors(app) and "This session is closed" in words(app)
    assert "Anybody may ask" not in words(app) and "Nothing is measured" not in words(app)


def test_a_visitor_is_not_promised_that_unmeasured_answers_stay(desk: Desk, small: DeskTable, visitor: None) -> None:
    session = desk.ask(small, mechanism="online-weights", budget=Budget(1, "1e-9"), alpha=0.3)
    desk.share(session.id, title="Ask us")
    app = way(AppTest.from_file(str(APP), default_timeout=60).run(), "A formula or SQL")
    field(app, "Formula").set_value("SELECT ill, COUNT(*) FROM t GROUP BY ill").run()
    button(app, "Ask").click().run()
    assert not errors(app) and not session.transcript()
    assert "Asking it again takes nothing" in words(app) and "the same answer" not in words(app)
    assert "Nothing is measured for visitors: answers come from what is public" in words(app)


def test_a_link_to_what_was_taken_down_does_not_open_the_only_other(desk: Desk, plan_id: str, visitor: None) -> None:
    desk.share(plan_id, title="Visits")
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["item"] = "gone"
    app.run()
    assert "not shared any more" in words(app) and not app.header
    app.button(key=f"open-{plan_id}").click().run()
    assert app.header[0].value == "Visits"


@pytest.mark.exhaustive
def test_visitors_take_the_hard_answers_that_they_are_given(desk: Desk, small: DeskTable, visitor: None) -> None:
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=5)
    desk.share(session.id, title="Ask us")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert "Nothing is measured for visitors: this session measures every question" in words(app)
    button(app, "Ask").click().run()
    assert "no measurement is left to this visit" in errors(app)[0]
    assert not session.transcript()

    desk.share(session.id, title="Ask us", hard=1)
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    way(app, "A formula or SQL")
    for age in (20, 40):
        field(app, "Formula").set_value(f"age >= {age}").run()
        button(app, "Ask").click().run()
    assert "no measurement is left" in errors(app)[0]
    assert not app.metric[0].label.startswith("Share"), "the answer to another question does not stand below"
    assert len(session.transcript()) == 1 and "Nothing is measured for you any more" in words(app)


@pytest.mark.exhaustive
def test_the_curator_says_what_visitors_may_take(page: Open, desk: Desk, small: DeskTable) -> None:
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=5)
    app = page("ask")
    number(app, "Hard answers that a visit may take").set_value(2).run()
    button(app, "Share it").click().run()
    assert not errors(app)
    [item] = desk.shared_items.items()
    assert (item.id, item.hard, item.kept) == (session.id, 2, 3)


def test_hard_answers_that_are_given_later_leave_the_curator_half(page: Open, desk: Desk, small: DeskTable) -> None:
    session = desk.ask(small, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=5)
    desk.share(session.id, title="Ask us")
    app = page("ask")
    number(app, "Hard answers that a visit may take").set_value(2).run()
    assert number(app, "Hard answers that visitors leave to you").value == 3
