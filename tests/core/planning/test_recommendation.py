"""What is offered first is what errs least on the same public stand-ins; what is there to be studied stands apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.planning import recommendation
from core.planning.better_noise import build
from core.planning.recommendation import Ranking, rank
from core.planning.simulation import fitted, kept_trials
from core.planning.simulation.kept_trials import Figures
from core.planning.simulation.look_alike import KINDS
from core.planning.simulation.stand_ins import StandIns
from core.planning.simulation.trial import make_trial
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.registry import offline
from core.schema.domain import Domain, Integers

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=15) for name in "ab"))


def ranking(*queries, rows=2_000, names=tuple(offline)) -> Ranking:
    candidates = {}
    for name in names:
        try:
            candidates[name] = build(name, queries, Budget(1), {}, DOMAIN, Unit.row())
        except DeskError:
            continue
    return rank(candidates, StandIns.of(DOMAIN, Unit.row(), rows), Figures())


@pytest.mark.exhaustive
def test_the_smallest_error_is_first_and_every_place_has_its_reason() -> None:
    found = ranking(Marginals(order=2))
    errors = [each.figure.mean for each in found.offered]
    assert errors == sorted(errors) and len(errors) > 3
    assert found.offered[0].reason.startswith("The smallest error of those that were tried: ±")
    assert all(each.reason.endswith("times the smallest error on the same tables.") for each in found.offered[1:])
    assert all(each.figure.how == "simulated" for each in found.offered)


@pytest.mark.exhaustive
def test_what_is_there_to_be_studied_stands_apart() -> None:
    found = ranking(Intervals(column="a"), Intervals(column="b"))
    assert not any(offline[each.name].for_study for each in found.offered)
    assert found.studied and all(offline[each.name].for_study for each in found.studied)


@pytest.mark.exhaustive
def test_what_only_a_mechanism_for_study_can_do_is_offered() -> None:
    found = ranking(Marginals(order=1), names=("iterative-median",))
    assert [each.name for each in found.offered] == ["iterative-median"] and not found.studied


@pytest.mark.exhaustive
def test_what_was_only_modelled_counts_by_the_end_of_its_band(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is a little too hopeful must not decide what is recommended."""
    least = ranking(Marginals(order=2), names=("laplace", "histogram", "tree")).offered[0].figure.mean

    def hopeful(mechanism: Mechanism, stand_ins: StandIns) -> fitted.Modelled:
        found = fitted.modelled(mechanism, stand_ins)
        return replace(found, mean=0.4 * least, cost=100.0) if mechanism.name == "laplace" else found

    monkeypatch.setattr(kept_trials, "modelled", hopeful)
    monkeypatch.setattr(recommendation, "modelled", hopeful)
    found = ranking(Marginals(order=2), names=("laplace", "histogram", "tree")).offered
    told = {each.name: each for each in found}["laplace"]
    assert (told.figure.how, found[0].figure.how) == ("modelled", "simulated")
    assert told.figure.mean < found[0].figure.mean < told.figure.high
    assert told.reason.endswith("by a model: trying it takes too long.")
    assert ranking(Marginals(order=2), names=("laplace",)).offered[0].figure.how == "modelled"


def test_what_might_be_the_best_is_tried_once_though_it_takes_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(mechanism: Mechanism, stand_ins: StandIns) -> fitted.Modelled:
        return replace(fitted.modelled(mechanism, stand_ins), cost=5.0)

    monkeypatch.setattr(kept_trials, "modelled", slow)
    monkeypatch.setattr(recommendation, "modelled", slow)
    [only] = ranking(Marginals(order=2), names=("laplace",)).offered
    assert (only.figure.how, only.figure.runs) == ("simulated", 1)


@pytest.mark.parametrize(
    ("means", "untried"),
    [
        ({"laplace": 9.0, "histogram": 5.0, "tree": 2.0}, "laplace"),
        ({"laplace": 2.0, "histogram": 5.0, "tree": 9.0}, "tree"),
    ],
)
def test_those_that_take_seconds_share_one_allowance_the_likely_best_first(
    means: dict[str, float], untried: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quickest first, plain noise of two kinds took the time on wide tables; what errs a third was not tried."""
    costs = {"laplace": 4.0, "histogram": 3.0, "tree": 5.7}

    def slow(mechanism: Mechanism, stand_ins: StandIns) -> fitted.Modelled:
        found = fitted.modelled(mechanism, stand_ins)
        return replace(found, mean=means[mechanism.name], cost=costs[mechanism.name], mean_spread=9.0)

    monkeypatch.setattr(kept_trials, "modelled", slow)
    monkeypatch.setattr(recommendation, "modelled", slow)
    found = ranking(Marginals(order=2), names=tuple(costs)).offered
    assert [each.name for each in found if each.figure.how == "modelled"] == [untried]


def test_further_trials_go_to_the_one_with_the_fewest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds of tables differ by factors, so a figure from one of them says little of the next."""
    costs = {"laplace": 0.2, "histogram": 0.5, "tree": 1.0}

    def slow(mechanism: Mechanism, stand_ins: StandIns) -> fitted.Modelled:
        return replace(fitted.modelled(mechanism, stand_ins), cost=costs[mechanism.name])

    monkeypatch.setattr(kept_trials, "modelled", slow)
    monkeypatch.setattr(recommendation, "modelled", slow)
    monkeypatch.setattr(recommendation, "CLOSE_RUNS", 1)

    def runs(seconds: float) -> dict[str, int]:
        monkeypatch.setattr(recommendation, "KIND_SECONDS", seconds)
        return {each.name: each.figure.runs for each in ranking(Marginals(order=2), names=tuple(costs)).offered}

    assert runs(2.3) == {"laplace": 4, "histogram": 1, "tree": 1}
    assert runs(5.4) == {"laplace": 4, "histogram": 3, "tree": 3}
    assert runs(100.0) == {name: len(KINDS) for name in costs}


def test_a_mechanism_for_study_that_counts_many_steps_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However quick the runs were that the model was fitted on: they were seldom slow."""
    names = ("laplace", "iterative-perceptron")
    assert ranking(Marginals(order=2), names=names).studied[0].figure.how == "simulated"
    monkeypatch.setattr(offline["iterative-perceptron"], "seconds", lambda *_: 30.0)
    assert ranking(Marginals(order=2), names=names).studied[0].figure.how == "modelled"


def test_what_takes_long_is_left_to_the_model_where_others_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"laplace": 0.1, "histogram": 7.0}

    def slow(mechanism: Mechanism, stand_ins: StandIns) -> fitted.Modelled:
        return replace(fitted.modelled(mechanism, stand_ins), cost=costs[mechanism.name], mean_spread=9.0)

    monkeypatch.setattr(kept_trials, "modelled", slow)
    monkeypatch.setattr(recommendation, "modelled", slow)
    found = {each.name: each.figure.how for each in ranking(Marginals(order=2), names=tuple(costs)).offered}
    assert found == {"laplace": "simulated", "histogram": "modelled"}
    assert ranking(Marginals(order=2), names=("histogram",)).offered[0].figure.how == "simulated"


def test_places_rest_on_the_tables_that_both_were_tried_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """One was tried on six tables of all kinds, the other on the first: only that one tells which errs less."""
    monkeypatch.setattr(kept_trials, "QUICK_RUNS", 1)
    monkeypatch.setattr(recommendation, "CLOSE_RUNS", 1)
    monkeypatch.setattr(recommendation, "KIND_SECONDS", 0.0)
    kept, public = Figures(), StandIns.of(DOMAIN, Unit.row(), 2_000)
    both = {
        name: build(name, (Intervals(column="a"),), Budget(1), {}, DOMAIN, Unit.row()) for name in ("laplace", "tree")
    }
    kept.quick(both["laplace"], public, 6)
    found = rank(both, public, kept).offered
    assert {each.name: each.figure.runs for each in found} == {"laplace": 6, "tree": 1}
    first, second = (make_trial(both[each.name], public, 0).mean for each in found)
    assert first <= second and f"{second / first:.2g} times the smallest error" in found[1].reason


def test_those_that_are_close_are_compared_with_one_of_them() -> None:
    """Beside the one that was tried most the second seems better, but only as it was not on the third table."""
    found = recommendation.errors_on_shared_tables(
        {
            "far": np.array([5.0, 5.0, 3.0, 3.0]),
            "first": np.array([2.0, 2.0, 1.0]),
            "second": np.array([2.1, 2.1]),
        }
    )
    assert found["second"] / found["first"] == pytest.approx(np.exp(0.1))
    assert found["far"] / found["first"] == pytest.approx(np.exp(8 / 3))
