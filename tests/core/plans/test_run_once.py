from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import Failed
from core.desk.desk import Desk
from core.kernel.tables import TOTAL
from core.mechanisms.direct.laplace import LaplaceTables
from core.plans.run_once import ENDED, NoiseWatcher, is_void, run_once
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from tests.core.samples import SMALL


@pytest.fixture
def desk(tmp_path):
    opened = Desk(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def held(desk):
    frame = SMALL.decode(np.zeros((50, 3), dtype=np.int64), np.random.default_rng(0))
    return desk.add_table(frame, SMALL, unit=Unit.row(), budget=Budget(2))


def plan_of(desk, held):
    return desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(1))


def breaking(after_a_draw):
    def run(self, kernel, progress=None):
        if after_a_draw:
            kernel.measure(TOTAL, self.cost(kernel.domain, kernel.unit).events[0])
        raise ValueError("a private value 1234")

    return run


def test_watching_changes_no_draw_and_notices_each():
    watched = NoiseWatcher(Noise())
    assert not watched.drawn
    drawn = watched.laplace(np.zeros(3, dtype=np.int64), epsilon=Fraction(1000), sensitivity=1)
    assert drawn.tolist() == [0, 0, 0]
    assert watched.drawn


@pytest.mark.exhaustive
def test_an_error_before_any_noise_can_be_tried_again(desk, held, monkeypatch):
    plan = plan_of(desk, held)
    with monkeypatch.context() as broken:
        broken.setattr(LaplaceTables, "run", breaking(after_a_draw=False))
        with pytest.raises(Failed, match="at no cost"):
            desk.release(plan)
    assert desk.progress(plan.id).state == "stopped"
    assert desk.release(plan).certificate.plan == plan.id


@pytest.mark.exhaustive
def test_an_error_after_a_draw_ends_the_plan_for_good(desk, held, monkeypatch):
    plan = plan_of(desk, held)
    with monkeypatch.context() as broken:
        broken.setattr(LaplaceTables, "run", breaking(after_a_draw=True))
        with pytest.raises(Failed, match="fresh edition") as problem:
            desk.release(plan)
    assert "1234" not in str(problem.value)
    assert problem.value.__cause__ is None
    assert problem.value.__context__ is None
    # Whatever is mended meanwhile: a second run would be a second outcome for one payment.
    with pytest.raises(Failed, match="fresh edition"):
        desk.release(plan)
    assert desk.result(plan.id) is None
    assert desk.resume() == []
    assert (desk.progress(plan.id).state, desk.progress(plan.id).note) == ("ended", ENDED)
    [entry] = desk.statement(held).entries
    assert is_void(entry)
    assert desk.statement(held).spent_share == pytest.approx(0.5)


@pytest.mark.exhaustive
def test_a_fresh_edition_is_paid_for_again(desk, held, monkeypatch):
    plan = plan_of(desk, held)
    with monkeypatch.context() as broken:
        broken.setattr(LaplaceTables, "run", breaking(after_a_draw=True))
        with pytest.raises(Failed):
            desk.release(plan)
    fresh = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(1), edition=2)
    assert desk.release(fresh).certificate.plan == fresh.id
    assert desk.statement(held).spent_share == pytest.approx(1.0)


@pytest.mark.exhaustive
def test_a_result_that_is_stored_is_never_made_again(desk, held):
    plan = plan_of(desk, held)
    release = desk.release(plan)

    def never(noise, attempt):
        raise AssertionError

    assert run_once(desk.ledger, plan.id, Noise(), never) == release.zip()
