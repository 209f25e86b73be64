import pytest

from core.base.errors import BadParameter, Refused
from core.planning.budget_for import budget_for, expected, rounded_up
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from tests.core.samples import SMALL

QUERIES = [Marginals(order=2)]


@pytest.mark.parametrize(("name", "delta"), [("laplace", 0.0), ("gaussian", 1e-9), ("histogram", 0.0)])
@pytest.mark.parametrize("measure", ["mean", "worst"])
@pytest.mark.parametrize("within", [3.0, 50.0])
def test_the_budget_reaches_the_accuracy_and_not_much_more(name, delta, measure, within):
    found = budget_for(name, QUERIES, {}, SMALL, Unit.row(), within=within, delta=delta, measure=measure)
    reached = getattr(expected(name, QUERIES, found, {}, SMALL, Unit.row()), measure)
    wasted = getattr(
        expected(name, QUERIES, Budget(float(found.epsilon) * 0.88, delta), {}, SMALL, Unit.row()), measure
    )
    assert reached <= within < wasted


def test_what_cannot_be_reached_is_refused_with_what_can():
    with pytest.raises(Refused, match="epsilon 100"):
        budget_for("laplace", QUERIES, {}, SMALL, Unit.row(), within=1e-6, measure="mean")


def test_an_easy_wish_gives_the_least_budget():
    assert float(budget_for("laplace", QUERIES, {}, SMALL, Unit.row(), within=1e9).epsilon) == 1e-3


@pytest.mark.parametrize("within", [0, -1, float("nan"), float("inf"), True, "5"])
def test_bad_wishes_are_named(within):
    with pytest.raises(BadParameter, match="within"):
        budget_for("laplace", QUERIES, {}, SMALL, Unit.row(), within=within)


@pytest.mark.parametrize("epsilon", [0.00123, 0.999, 1.0, 9.96, 73.2])
def test_rounding_never_goes_down(epsilon):
    assert epsilon <= float(rounded_up(epsilon)) <= epsilon * 1.101
