import pytest

from core.base.errors import BadParameter, Refused
from core.planning.better_noise import build
from core.planning.budget_for import budget_for, nine_of_ten, rounded_up
from core.planning.simulation.kept_trials import Figures
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from tests.core.samples import SMALL

QUERIES = [Marginals(order=2)]
PUBLIC = StandIns.of(SMALL, Unit.row(), 2_000)


def error(name, budget, kind, figures):
    return nine_of_ten(figures.quick(build(name, QUERIES, budget, {}, SMALL, Unit.row()), PUBLIC), kind)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize(("name", "delta"), [("laplace", 0.0), ("gaussian", 1e-9), ("histogram", 0.0)])
@pytest.mark.parametrize("kind", ["mean", "worst"])
@pytest.mark.parametrize("within", [3.0, 50.0])
def test_the_budget_reaches_the_accuracy_and_not_much_more(name, delta, kind, within):
    figures = Figures()
    found = budget_for(name, QUERIES, {}, PUBLIC, figures, within=within, delta=delta, error=kind)
    assert error(name, found, kind, figures) <= within
    assert error(name, Budget(float(found.epsilon) * 0.7, delta), kind, figures) > within


@pytest.mark.exhaustive
def test_what_cannot_be_reached_is_refused_with_what_can():
    with pytest.raises(Refused, match="epsilon 100"):
        budget_for("smalldb", QUERIES, {}, PUBLIC, Figures(), within=0.1, error="mean")


@pytest.mark.exhaustive
def test_an_easy_wish_gives_the_least_budget():
    assert float(budget_for("laplace", QUERIES, {}, PUBLIC, Figures(), within=1e9).epsilon) == 1e-3


@pytest.mark.parametrize("within", [0, -1, float("nan"), float("inf"), True, "5"])
def test_bad_wishes_are_named(within):
    with pytest.raises(BadParameter, match="within"):
        budget_for("laplace", QUERIES, {}, PUBLIC, Figures(), within=within)


@pytest.mark.parametrize("epsilon", [0.00123, 0.999, 1.0, 9.96, 73.2])
def test_rounding_never_goes_down(epsilon):
    assert epsilon <= float(rounded_up(epsilon)) <= epsilon * 1.101
