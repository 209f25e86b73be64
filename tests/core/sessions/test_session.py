import csv
import io
import json
import threading

import numpy as np
import pytest

from core import Budget, Desk
from core.base.errors import CannotGoOn, DeskError, Failed, Refused, Undeclared, Unknown
from core.kernel.allowance import Allowance
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.online.online_weights import OnlineWeights
from core.privacy.events import Pure
from core.registry import interactive
from core.sessions.kept.turn import Turn
from core.sessions.question import SessionQuestion, question_from
from core.sessions.session import Session
from core.sessions.visit import Visit
from tests.core.asker import Asker
from tests.core.people import DOMAIN, ONE, PAIRS, desk, held, people
from tests.core.sessions.opened import EASY, HALF, HARD, OPTIONS, ages, asker, chain, opened

__all__ = ["asker", "desk", "held"]


def test_an_answer_says_everything(desk, held):
    session = opened(desk, held)
    truth = int(people()["age"].between(90, 99).sum())
    answer = session.answer(ages(1, "ninety and over"))
    assert (answer.number, answer.words, answer.kind) == (1, "ninety and over", "hard")
    assert (answer.spent, answer.left, answer.cost) == (1, 2, 1)
    assert abs(answer.count - truth) < 60
    assert answer.value == answer.share == pytest.approx(answer.count / 3_000)
    assert answer.interval == pytest.approx((answer.share - 0.01, answer.share + 0.01))
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


def test_a_session_that_cannot_go_on_says_so_and_stays_readable(desk, held, monkeypatch):
    session = opened(desk, held)
    session.answer(ages(3))

    def stuck(self, state, question, kernel):
        raise CannotGoOn

    monkeypatch.setattr(Asker, "answer", stuck)
    with pytest.raises(CannotGoOn, match="cannot go on"):
        session.answer(ages(1))
    assert session.status == session.summary().status == "closed"
    assert [answer.words for answer in session.transcript()] == ["ages 3"]


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
    monkeypatch.setattr("core.sessions.counts_in_memory.MOST_AT_HAND", 1)
    session = opened(desk, held)
    assert abs(session.answer(ages(1)).count - people()["age"].between(90, 99).sum()) < 60


@pytest.mark.exhaustive
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
    assert desk.statement(held).spent_share == spent, "what was begun is not given back"
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


@pytest.mark.exhaustive
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


# together


@pytest.mark.exhaustive
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


@pytest.fixture
def under_way(desk, held, monkeypatch):
    """A session in which somebody's answer is being computed, until the test is over."""
    session = desk.ask(held, mechanism="online-weights", budget=ONE, **OPTIONS["online-weights"])
    begun, over, answer = threading.Event(), threading.Event(), OnlineWeights.answer

    def slow(self, state, question, kernel):
        begun.set()
        over.wait()
        return answer(self, state, question, kernel)

    monkeypatch.setattr(OnlineWeights, "answer", slow)
    other = threading.Thread(target=session.answer, args=(ages(1),), daemon=True)
    other.start()
    assert begun.wait(30)
    yield session
    over.set()
    other.join()


@pytest.mark.parametrize(
    "read", [Session.hypothesis, Session.summary, lambda session: Visit(session=session, hard=0).answer(ages(2))]
)
def test_how_long_an_answer_takes_is_not_told_by_what_is_public_meanwhile(under_way, read):
    found = []
    reader = threading.Thread(target=lambda: found.append(read(under_way)), daemon=True)
    reader.start()
    reader.join(10)
    assert found


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
