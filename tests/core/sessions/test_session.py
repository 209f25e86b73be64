import csv
import io
import json
import shutil
import threading

import numpy as np
import pytest

from core import Budget, Desk, Domain, Intervals, Marginals, Unit
from core.base.errors import BadParameter, BadSchema, DeskError, Failed, OutOfBudget, Refused, Undeclared, Unknown
from core.kernel.allowance import Allowance
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.plans.terms import is_session
from core.privacy.events import Pure
from core.registry import interactive
from core.schema.domain import Categories
from core.sessions.file import Turn
from core.sessions.pace import Pace
from core.sessions.question import SessionQuestion, question_from
from tests.core.asker import Asker, register
from tests.core.desk.test_desk import DOMAIN, ONE, PAIRS, TOTAL, people

HALF = Budget("1/2")


@pytest.fixture(autouse=True)
def asker(monkeypatch):
    register(monkeypatch.setattr)


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def held(desk):
    return desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL, name="people")


def opened(desk, held, **changes):
    return desk.ask(held, **({"mechanism": "asker", "budget": HALF} | changes))


def ages(number, words=""):
    """The age groups whose bits are set: hard for an odd number of groups, easy for an even one."""
    weights = np.array([int(bit) for bit in f"{number:010b}"])
    return Query(columns=("age",), weights=weights, words=words or f"ages {number}")


def chain(session):
    """The hard questions that the stored state has learnt from, in order."""
    with session.file.snapshot(session.id) as turn:
        return json.loads(turn.state().data)[3]


OPTIONS = {name: {"alpha": 0.1, "rows": 3_000} for name in ("online-weights", "online-perceptron", "online-median")}
HARD, EASY = (1, 2, 4, 8, 16), (3, 5, 6, 9)


# opening


def test_a_session_is_paid_once_and_is_the_same_everywhere(desk, held, tmp_path):
    plan = desk.plan_session(held, mechanism="asker", budget=HALF)
    assert plan.units > 0
    assert plan.hard_answers == 3
    assert desk.affordable(plan)
    assert desk.progress(plan.id).state == "unpaid"
    session = opened(desk, held)
    assert session.id == plan.id
    spent = desk.statement(held).spent_share
    assert spent == session.summary().budget_share > 0
    assert opened(desk, held) is session
    other = Desk(tmp_path / "workspace")
    assert opened(other, held).id == session.id
    assert other.session(session.id).table == held.id
    assert desk.statement(held).spent_share == spent
    assert [entry.plan_id for entry in desk.statement(held).entries] == [session.id]
    other.close()


def test_every_choice_is_a_session_of_its_own(desk, held):
    small = Budget("1/20")
    ids = [
        opened(desk, held, **changes).id
        for changes in (
            {"budget": small},
            {"budget": small, "edition": 2},
            {"budget": small, "limit": 4},
            {"budget": small, "columns": ["age"]},
            {"budget": Budget("1/19")},
        )
    ]
    assert len(set(ids)) == len(ids) == len(desk.statement(held).entries)
    assert [session.id for session in desk.sessions(held)] == ids[::-1]
    assert desk.sessions("nowhere") == []
    assert len(desk.sessions()) == len(ids)
    every = opened(desk, held, budget=small, columns=["ill", "age", "region"])
    assert every.id == ids[0], "all columns are the whole table, in whatever order"


def test_the_ledger_knows_it_as_a_session(desk, held):
    session = opened(desk, held)
    entry = desk.ledger.entry(session.id)
    assert entry.status == "stored"
    assert is_session(entry)
    assert json.loads(desk.ledger.result(session.id))["mechanism"] == "asker"
    assert desk.result(session.id) is None
    assert desk.resume() == []
    assert desk.progress(session.id).state == "done"
    released = desk.plan(held, PAIRS, mechanism="gaussian", budget=Budget("1/5", 1e-9))
    desk.release(released)
    assert not is_session(desk.ledger.entry(released.id))


def test_a_session_that_was_paid_but_not_opened_opens_for_nothing(desk, held, tmp_path):
    plan = desk.plan_session(held, mechanism="asker", budget=HALF)
    desk._reserve(plan)
    spent = desk.statement(held).spent_share
    with pytest.raises(Refused, match="never opened"):
        desk.session(plan.id)
    assert desk.sessions(held) == []
    restarted = Desk(tmp_path / "workspace")
    assert restarted.resume() == [plan.id]
    restarted.close()
    assert restarted.session(plan.id).answer(ages(1)).kind == "hard"
    assert opened(desk, held).transcript()[0].kind == "hard"
    assert desk.statement(held).spent_share == spent


def test_an_opening_that_fails_stays_paid_and_tells_nothing(desk, held, monkeypatch):
    def explode(*_):
        raise ValueError("a private value 1234")

    with monkeypatch.context() as broken:
        broken.setattr(Asker, "open", explode)
        with pytest.raises(Failed) as problem:
            opened(desk, held)
    assert "1234" not in str(problem.value)
    spent = desk.statement(held).spent_share
    assert spent > 0
    assert opened(desk, held).answer(ages(1)).left == 2
    assert desk.statement(held).spent_share == spent


def test_a_lost_session_file_never_gives_a_second_run(desk, held, tmp_path):
    session = opened(desk, held)
    session.answer(ages(1))
    desk.close()
    for file in (tmp_path / "workspace").glob("sessions.sqlite*"):
        file.unlink()
    again = Desk(tmp_path / "workspace")
    for use in (lambda: opened(again, held), lambda: again.session(session.id)):
        with pytest.raises(Refused, match="backup"):
            use()
    again.close()


REFUSED = [
    ({"mechanism": "magic"}, Unknown, "magic"),
    ({"mechanism": None}, BadParameter, "mechanism"),
    ({"budget": None}, BadParameter, "budget"),
    ({"colour": 1}, BadParameter, "colour"),
    ({"limit": 0}, BadParameter, "limit"),
    ({"edition": 0}, BadParameter, "edition"),
    ({"edition": True}, BadParameter, "edition"),
    ({"columns": []}, BadParameter, "columns"),
    ({"columns": "age"}, BadParameter, "columns"),
    ({"columns": ["name"]}, BadSchema, "name"),
    ({"queries": PAIRS}, BadParameter, "queries"),
    ({"earlier": "nothing"}, Unknown, "nothing"),
    ({"release": "nothing"}, BadParameter, "leave it out"),
    ({"mechanism": "histogram", "earlier": "x"}, BadParameter, "earlier"),
    ({"mechanism": "histogram", "queries": PAIRS, "columns": ["age"]}, BadParameter, "columns"),
    ({"budget": Budget(900)}, OutOfBudget, "budget"),
]


def test_a_session_that_cannot_be_costs_nothing(desk, held):
    for changes, error, match in REFUSED:
        with pytest.raises(error, match=match):
            opened(desk, held, **changes)
    assert desk.statement(held).spent_share == 0
    assert desk.statement(held).entries == ()
    assert desk.sessions() == []


# answers


def test_an_answer_says_everything(desk, held):
    session = opened(desk, held)
    truth = int(people()["age"].between(90, 99).sum())
    answer = session.answer(ages(1, "ninety and over"))
    assert (answer.number, answer.words, answer.kind) == (1, "ninety and over", "hard")
    assert (answer.spent, answer.left, answer.cost) == (1, 2, 1)
    assert abs(answer.count - truth) < 60
    assert answer.value == answer.share == pytest.approx(answer.count / 3_000)
    assert answer.interval == pytest.approx((answer.share - 10 / 3_000, answer.share + 10 / 3_000))
    assert answer.count_interval == (answer.count - 10, answer.count + 10)
    easy = session.answer(ages(3))
    assert (easy.number, easy.kind, easy.spent, easy.left, easy.cost) == (2, "easy", 1, 2, 0)
    for number in HARD[1:4]:
        last = session.answer(ages(number))
    assert (last.kind, last.spent, last.left, last.interval) == ("unchecked", 3, 0, None)
    summary = session.summary()
    assert (summary.questions, summary.easy, summary.hard, summary.unchecked) == (5, 1, 3, 1)
    assert (summary.left, summary.limit, summary.status, summary.budget) == (0, 3, "open", HALF)


def test_the_same_question_gives_the_same_answer_for_nothing(desk, held, tmp_path):
    session = opened(desk, held)
    first = session.answer(ages(1, "in one way"))
    assert session.answer(ages(1, "in another")) == first
    scaled = Query(columns=("age",), weights=4 * ages(1).weights, denominator=4)
    assert session.answer(scaled) == first, "the same weights in other terms"
    other = Desk(tmp_path / "workspace")
    assert other.session(session.id).answer(ages(1)) == first
    assert session.summary().hard == 1
    assert len(session.transcript()) == 1
    other.close()
    both = np.arange(8).reshape(4, 2) % 3 % 2
    one = session.answer(Query(columns=("region", "ill"), weights=both))
    assert session.answer(Query(columns=("ill", "region"), weights=both.T)) == one, "columns in another order"
    assert session.answer(Query(columns=("region", "ill"), weights=1 - both)) != one


UNASKABLE = [
    (Query(columns=("name",), weights=np.array([1, 0])), "'name'"),
    (Query(columns=("region",), weights=np.array([1, 0, 0, 0])), "'region'; this session is about age, ill"),
    (Query(columns=("age",), weights=np.array([1, 0])), "shape"),
    (Query(columns=("ill", "ill"), weights=np.eye(2, dtype=int)), "twice"),
    (Query(columns=("ill",), weights=np.array([0, 0])), "No possible record"),
    ("ill", "question"),
    (None, "question"),
]


def test_a_question_that_cannot_be_asked_costs_nothing(desk, held):
    session = opened(desk, held, columns=["ill", "age"])
    for question, match in UNASKABLE:
        with pytest.raises(DeskError, match=match):
            session.answer(question)
    assert session.summary().questions == 0
    assert session.answer(ages(1)).left == 2


def test_a_mechanism_that_breaks_tells_nothing_and_spends_nothing(desk, held):
    session = opened(desk, held, fails=True)
    with pytest.raises(Failed) as problem:
        session.answer(ages(1))
    assert "1234" not in str(problem.value)
    assert problem.value.__cause__ is None
    assert session.summary().questions == 0


def test_an_error_after_a_draw_ends_the_session(desk, held, monkeypatch):
    def broken(self, state):
        raise ValueError("a private value 1234")

    session = opened(desk, held)
    with monkeypatch.context() as patch:
        patch.setattr(Asker, "save", broken)
        assert session.answer(ages(3)).kind == "easy"
        with pytest.raises(Failed, match="closed") as problem:
            session.answer(ages(1))
    assert "ValueError" not in str(problem.value), "only a hard answer is saved, so the error tells that it was hard"
    assert session.status == "closed"
    assert [answer.words for answer in session.transcript()] == ["ages 3"]
    with pytest.raises(Refused, match="closed"):
        session.answer(ages(2))


def test_an_error_before_a_draw_leaves_the_session_open(desk, held):
    session = opened(desk, held, fails=True)
    with pytest.raises(Failed):
        session.answer(ages(1))
    assert session.status == "open"


def test_a_mechanism_sees_only_the_columns_of_its_session(desk, held, monkeypatch):
    seen = []
    answer = Asker.answer

    def watched(self, state, question, kernel):
        seen.append(kernel)
        return answer(self, state, question, kernel)

    monkeypatch.setattr(Asker, "answer", watched)
    opened(desk, held, columns=["ill", "age"]).answer(ages(1))
    assert seen[0].domain == DOMAIN.project(["age", "ill"])
    assert isinstance(seen[0], Kernel)


def left(session):
    """What the stored session may still do."""
    with session.file.snapshot(session.id) as turn:
        return Allowance.from_json(json.loads(turn.state().allowance))


def test_a_session_cannot_do_more_than_was_reserved(desk, held, tmp_path):
    """Its mechanism forgets its own limit; what is left of the spend goes on over answers and restarts."""
    session = opened(desk, held, greedy=True)
    assert [session.answer(ages(number)).kind for number in HARD[:2]] == ["hard", "hard"]
    desk.close()
    again = Desk(tmp_path / "workspace")
    session = again.session(session.id)
    assert session.answer(ages(HARD[2])).kind == "hard"
    with pytest.raises(Undeclared):
        session.answer(ages(HARD[3]))
    assert session.answer(ages(3)).kind == "easy", "nothing was drawn, so the session goes on"
    assert session.summary().hard == 3
    again.close()


def test_what_is_left_is_stored_with_the_answer_that_took_it(desk, held):
    session = opened(desk, held)
    before = left(session).to_json()
    session.answer(ages(3))
    assert left(session).to_json() == before, "an easy answer takes nothing"
    for _ in range(2):
        session.answer(ages(HARD[session.summary().hard]))
    still = left(session)
    still.take(Pure(HALF.epsilon / 3))
    with pytest.raises(Undeclared):
        still.take(Pure(HALF.epsilon / 1000))


def test_an_answer_that_failed_takes_nothing(desk, held, monkeypatch):
    session = opened(desk, held)
    before = left(session).to_json()

    def full(self, **_):
        raise DeskError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(Turn, "record", full)
        with pytest.raises(DeskError, match="full"):
            session.answer(ages(1))
    assert left(session).to_json() == before
    assert [session.answer(ages(number)).kind for number in HARD[:4]] == ["hard"] * 3 + ["unchecked"]


def test_counts_beyond_what_fits_in_memory_give_the_same_answers(desk, held, monkeypatch):
    monkeypatch.setattr("core.sessions.workspace_sessions.MOST_AT_HAND", 1)
    session = opened(desk, held)
    assert abs(session.answer(ages(1)).count - people()["age"].between(90, 99).sum()) < 60


def test_a_closed_session_answers_nothing_more(desk, held, tmp_path):
    session = opened(desk, held)
    first, spent = session.answer(ages(1)), desk.statement(held).spent_share
    session.close()
    session.close()
    for question in (ages(1), ages(2)):
        with pytest.raises(Refused, match="closed"):
            session.answer(question)
    assert session.status == session.summary().status == "closed"
    assert session.transcript() == [first]
    assert desk.statement(held).spent_share == spent, "nothing is refunded"
    again = Desk(tmp_path / "workspace")
    assert opened(again, held).status == "closed"
    again.close()


def test_an_unknown_session(desk, held):
    release = desk.plan(held, PAIRS, mechanism="gaussian", budget=Budget("1/5", 1e-9))
    desk.release(release)
    for name in ("nothing", release.id, held.id):
        with pytest.raises(Unknown, match="no session"):
            desk.session(name)


def test_the_transcript_is_a_harmless_file(desk, held):
    session = opened(desk, held)
    session.answer(ages(1, "=cmd()|'/c calc'!A1"))
    session.answer(ages(3, 'a "quoted", text\nand more'))
    for number in HARD[1:4]:
        session.answer(ages(number))
    lines = list(csv.DictReader(io.StringIO(session.transcript_csv().decode())))
    assert [int(line["number"]) for line in lines] == [1, 2, 3, 4, 5]
    assert lines[0]["question"] == "'=cmd()|'/c calc'!A1"
    assert lines[1]["question"] == 'a "quoted", text?and more'
    assert [line["kind"] for line in lines] == ["hard", "easy", "hard", "hard", "unchecked"]
    assert float(lines[0]["count"]) == session.transcript()[0].count
    assert lines[4]["margin"] == lines[4]["low"] == ""
    assert [line["left"] for line in lines] == ["2", "2", "1", "0", "0"]
    empty = opened(desk, held, edition=2).transcript_csv().decode()
    assert empty.splitlines() == [session.transcript_csv().decode().splitlines()[0]]


def test_questions_can_be_read_back(desk, held):
    session = opened(desk, held)
    asked = Query(columns=("ill", "age"), weights=np.arange(20).reshape(2, 10) % 5, denominator=8, words="odd")
    session.answer(asked)
    kept = session.question(1)
    assert (kept.columns, kept.denominator, kept.words) == (("age", "ill"), 8, "odd")
    assert np.array_equal(kept.weights, asked.weights.T)
    with pytest.raises(Unknown):
        session.question(2)
    large = Query(columns=("age",), weights=np.arange(10) * 10_000, denominator=2**20)
    question = SessionQuestion.of(large, DOMAIN)
    again = question_from(question.facts, question.weights, "", DOMAIN)
    assert np.array_equal(again.weights * (2**20 // again.denominator), large.weights)


@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("name", sorted(interactive))
def test_every_mechanism_goes_on_where_it_stopped(desk, held, tmp_path, name):
    session = desk.ask(held, mechanism=name, budget=ONE, columns=["age", "ill"], **OPTIONS.get(name, {}))
    first = [session.answer(ages(number)) for number in (*HARD, *EASY)]
    assert all(np.isfinite((answer.share, answer.count)).all() for answer in first)
    with session.file.snapshot(session.id) as turn:
        kept = turn.state().data
    desk.close()
    restarted = Desk(tmp_path / "workspace")
    again = restarted.session(session.id)
    assert again.mechanism.save(again.mechanism.load(again.domain, kept)) == kept, "bit by bit, secrets included"
    assert [again.answer(ages(number)) for number in (*HARD, *EASY)] == first
    assert again.summary() == session.summary()
    later = again.answer(ages(77))
    assert later.number == len(first) + 1
    assert later.left is None or later.left == first[-1].left - later.cost
    restarted.close()


# time


class Time:
    """A clock that moves only when told."""

    def __init__(self):
        self.now, self.slept = 100.0, []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize(("work", "wait"), [(0.0, 0.5), (0.1, 0.4), (0.5, 0.0), (0.6, 0.4), (1.7, 0.3)])
def test_an_answer_leaves_at_the_end_of_a_slot(tmp_path, monkeypatch, work, wait):
    time = Time()
    desk = Desk(tmp_path / "workspace", pace=Pace(clock=lambda: time.now, sleep=time.sleep))
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    monkeypatch.setattr("core.sessions.session.STORING", 0.0)
    monkeypatch.setattr("core.sessions.session.STORING_BYTE", 0.0)
    session = opened(desk, held, seconds=0.5)
    answer = Asker.answer

    def slow(self, *arguments):
        time.now += work
        return answer(self, *arguments)

    monkeypatch.setattr(Asker, "answer", slow)
    session.answer(ages(1))
    session.answer(ages(3))
    assert time.slept == pytest.approx([wait, wait]), "easy and hard alike"
    session.answer(ages(1))
    assert len(time.slept) == 2, "a stored reply reads nothing private"
    desk.close()


def test_the_wait_holds_no_lock(tmp_path):
    desk = None
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 1:
            assert session.answer(ages(3)).number == 2

    desk = Desk(tmp_path / "workspace", pace=Pace(clock=lambda: 0.0, sleep=sleep))
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    session = opened(desk, held, seconds=1.0)
    assert session.slot > 1
    assert session.answer(ages(1)).number == 1
    assert waits == [session.slot, session.slot]
    desk.close()


def test_a_broken_answer_waits_too(tmp_path):
    time = Time()
    desk = Desk(tmp_path / "workspace", pace=Pace(clock=lambda: time.now, sleep=time.sleep))
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    with pytest.raises(Failed):
        opened(desk, held, seconds=0.5, fails=True).answer(ages(1))
    assert len(time.slept) == 1
    assert time.slept[0] > 0.5
    desk.close()


# together


def test_threads_on_one_session_take_turns(desk, held):
    session, answers = opened(desk, held, limit=5), []
    barrier = threading.Barrier(6)

    def tab(place):
        barrier.wait()
        for number in range(1, 20):
            answers.append(session.answer(ages(1 + (number * 7 + place * 3) % 25)))

    threads = [threading.Thread(target=tab, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6 * 19
    kept = session.transcript()
    assert [answer.number for answer in kept] == list(range(1, len(kept) + 1))
    assert {answer.number: answer for answer in answers} == {answer.number: answer for answer in kept}
    assert sum(answer.kind == "hard" for answer in kept) == 5
    hard = [answer.words for answer in kept if answer.kind == "hard"]
    assert chain(session) == "".join(f"{words};" for words in hard), "each update built on the last"


def test_a_state_that_was_not_committed_is_forgotten(desk, held, tmp_path, monkeypatch):
    session = opened(desk, held)

    def full(self, **_):
        raise DeskError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(Turn, "record", full)
        with pytest.raises(DeskError, match="full"):
            session.answer(ages(1))
    other = Desk(tmp_path / "workspace")
    assert other.session(session.id).answer(ages(2)).spent == 1
    assert session.answer(ages(4)).left == 1
    assert chain(session) == "ages 2;ages 4;"
    other.close()


# releases


def test_a_session_from_a_release_is_free_and_without_limit(desk, held):
    plan = desk.plan(held, PAIRS, mechanism="gaussian", budget=ONE)
    release = desk.release(plan)
    spent = desk.statement(held).spent_share
    session = desk.ask(held, release=plan.id)
    assert session.free
    for number in (*HARD, *EASY):
        answer = session.answer(ages(number))
        assert (answer.kind, answer.left, answer.spent, answer.margin) == ("easy", None, 0, None)
        assert answer.share == pytest.approx(ages(number).answer(release))
    assert desk.statement(held).spent_share == spent
    assert desk.ask(held, release=plan.id) is session
    assert desk.ask(held, release=plan.id, edition=2).id != session.id
    assert session.summary().budget == ONE
    assert session.summary().budget_share == pytest.approx(spent)
    assert session.summary().left is None
    assert session.hypothesis().marginal(()).sum() == pytest.approx(session.transcript()[0].rows)


@pytest.mark.parametrize("mechanism", ["histogram", "tree", "laplace"])
def test_any_other_mechanism_answers_from_its_release(desk, held, mechanism):
    session = desk.ask(held, mechanism=mechanism, budget=ONE, columns=["age", "ill"])
    assert desk.ask(held, mechanism=mechanism, budget=ONE, columns=["age", "ill"]) is session
    assert len(desk.statement(held).entries) == 1
    assert desk.result(session.plan_id) is not None
    assert session.domain.names == ("age", "ill")
    answer = session.answer(Query(columns=("ill",), weights=np.array([0, 1])))
    assert abs(answer.count - people()["ill"].sum()) < 150
    assert answer.margin is None, "what post-processing does to the noise is not known"
    with pytest.raises(Refused, match="'region'"):
        session.answer(Query(columns=("region",), weights=np.array([1, 0, 0, 0])))


def test_a_release_of_chosen_classes_answers_about_their_columns(desk, held):
    session = desk.ask(held, mechanism="interval-tree", budget=ONE, queries=[Intervals(column="age")])
    assert session.domain.names == ("age",)
    assert abs(session.answer(ages(1)).count - people()["age"].between(90, 99).sum()) < 100


def test_a_session_from_a_release_needs_no_table(desk, held, tmp_path):
    plan = desk.plan(held, PAIRS, mechanism="gaussian", budget=ONE)
    desk.release(plan)
    desk.close()
    shutil.rmtree(tmp_path / "workspace" / "tables")
    again = Desk(tmp_path / "workspace")
    assert again.ask(held, release=plan.id).answer(ages(1)).kind == "easy"
    again.close()


def test_a_release_with_a_chosen_number_of_records(desk, held):
    """Its tables know the number of rows; records alone do not."""
    plan = desk.plan(held, PAIRS, mechanism="gaussian", budget=Budget("1/2", 1e-9), records=77)
    desk.release(plan)
    everyone = Query(columns=("region", "age", "ill"), weights=np.ones((4, 10, 2), dtype=int))
    assert abs(desk.ask(held, release=plan.id).answer(everyone).count - 3_000) < 200
    bare = desk.plan(
        held, [Marginals(order=1, columns=("ill",))], mechanism="smalldb", budget=Budget("1/2"), records=77
    )
    if not desk.release(bare).tables:
        with pytest.raises(Refused, match="number of rows"):
            desk.ask(held, release=bare.id)


def test_an_earlier_release_of_the_same_table_only(desk, held):
    coarse = Domain((Categories(name="region", values=("north", "south"), other="elsewhere"),))
    other = desk.add_table(people(), coarse, unit=Unit.row(), budget=TOTAL)
    small = Budget("1/5", 1e-9)
    theirs = desk.plan(other, [Marginals(order=1)], mechanism="gaussian", budget=small)
    desk.release(theirs)
    ours = desk.plan(held, PAIRS, mechanism="gaussian", budget=small)
    release = desk.release(ours)
    for use in (lambda: opened(desk, held, earlier=theirs.id), lambda: desk.ask(held, release=theirs.id)):
        with pytest.raises(Refused, match="another table or schema"):
            use()
    session = opened(desk, held, earlier=ours.id, columns=["age"])
    answer = session.answer(ages(1))
    assert answer.rows == pytest.approx(round(float(release.marginal(()).sum())))
    with pytest.raises(Unknown, match="release"):
        opened(desk, held, earlier=session.id)


def test_an_earlier_release_is_seen_through_the_columns_of_the_session(desk, held, monkeypatch):
    given = []

    def watched(self, kernel, earlier=None):
        given.append(earlier)
        return begin(self, kernel, earlier)

    begin = Asker.open
    monkeypatch.setattr(Asker, "open", watched)
    plan = desk.plan(held, PAIRS, mechanism="gaussian", budget=ONE)
    release = desk.release(plan)
    opened(desk, held, earlier=plan.id, columns=["age", "ill"])
    assert given[0].domain.names == ("age", "ill")
    assert given[0].marginal(("ill", "age")).shape == (2, 10)
    assert np.allclose(given[0].marginal(("age",)), release.marginal(("age",)), rtol=0.05)
    codes = given[0].sample(5_000, np.random.default_rng(1))
    assert codes.shape == (5_000, 2)
    shares = np.bincount(codes[:, 0], minlength=10) / 5_000
    assert np.abs(shares - release.marginal(("age",)) / release.marginal(()).sum()).max() < 0.05
