import shutil

import numpy as np
import pytest

from core import Budget, Desk, Domain, Intervals, Marginals, Unit
from core.base.errors import Refused, Unknown
from core.kernel.query import Query
from core.schema.domain import Categories
from tests.core.asker import Asker
from tests.core.people import ONE, PAIRS, TOTAL, desk, held, people
from tests.core.sessions.opened import EASY, HARD, ages, asker, opened

__all__ = ["asker", "desk", "held"]


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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
