"""Sessions with what the page offers first: on every schema each of them opens and answers, or is not offered."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.query import Query
from core.planning.session_offers import proposed, session_offers
from core.privacy.budget import Budget
from core.privacy.privacy_filter import Filters
from core.privacy.unit import Unit
from core.registry import interactive, interactive_from
from core.table.stand_in import StandIn
from tests.core.schemas import DEMO, SCHEMAS
from tests.kernels import played

CLINIC = Unit.id("patient_id", 3)
UNITS = (CLINIC, Unit.row("replace"), Unit.id("person", 50))
BUDGETS = (Budget("0.5", "1e-9"), Budget("0.5"), Budget(4, "1e-9"))
MOST_CELLS = 2**20


def narrowed(domain):
    """The columns that the page starts with."""
    first: list[str] = []
    for name in domain.names:
        if domain.cells([*first, name]) <= MOST_CELLS:
            first.append(name)
    return domain.project(first)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_mechanism_is_offered_with_options_that_can_be_kept_or_refused(schema, budget, unit):
    domain = narrowed(SCHEMAS[schema])
    offers = session_offers(domain, unit, budget)
    assert {*offers.found, *offers.refused} == {*interactive}
    assert {"online-histogram", "online-laplace"} <= offers.found.keys(), "some session can always be opened"
    for name, options in offers.found.items():
        made = interactive_from(name, budget, options)
        made.check(domain, unit)
        filters = Filters.of(budget)
        assert filters.used(filters.amounts(made.cost(domain, unit))) is not None
        assert made.expected(domain, unit).mean > 0
        assert options.keys() <= {"alpha"}
        assert not options or options["alpha"] < 1


@pytest.mark.parametrize("rows", [1_000, 10_000, 10**6])
def test_the_more_rows_are_guessed_the_smaller_is_the_proposed_error(rows):
    def alpha(guess):
        return proposed("online-weights", BUDGETS[0], {"rows": guess}, DEMO, CLINIC).get("alpha", 0.05)

    assert alpha(rows) >= alpha(10 * rows)
    least = alpha(rows)
    interactive_from("online-weights", BUDGETS[0], {"rows": rows, "alpha": least}).check(DEMO, CLINIC)
    if least > 0.05:
        with pytest.raises(BadParameter, match="alpha"):
            interactive_from("online-weights", BUDGETS[0], {"rows": rows, "alpha": least - 0.05}).check(DEMO, CLINIC)


@pytest.mark.parametrize("name", interactive)
def test_usual_options_that_can_be_kept_and_given_ones_stay(name):
    domain = SCHEMAS["1 columns"]
    assert proposed(name, Budget(50, "1e-9"), {}, domain, Unit.row()) == {}
    if name == "online-tree":
        assert proposed(name, BUDGETS[0], {}, domain, CLINIC) == {}, "it keeps whatever target error it can"
    elif "alpha" in interactive[name].__dataclass_fields__:
        assert proposed(name, BUDGETS[0], {}, domain, CLINIC)["alpha"] > 0.05
        assert proposed(name, BUDGETS[0], {"alpha": 0.01}, domain, CLINIC) == {}
        theory = {"constants": "thesis"} if name.startswith("median") else {"variant": "theorem"}
        assert proposed(name, BUDGETS[0], theory, domain, CLINIC) == {}


def test_nothing_is_proposed_where_nothing_can_be_kept():
    assert proposed("online-weights", Budget("0.001"), {"rows": 50}, DEMO, CLINIC) == {}


def test_the_recommended_session_suits_the_number_of_combinations():
    assert next(iter(session_offers(SCHEMAS["1 columns"], CLINIC, BUDGETS[0]).found)) == "online-histogram"
    assert next(iter(session_offers(narrowed(DEMO), CLINIC, BUDGETS[0]).found)) == "online-tree"
    assert next(iter(session_offers(narrowed(DEMO), UNITS[2], BUDGETS[0]).found)) == "online-tree"


@pytest.mark.crossing(keep=1, each="name")
@pytest.mark.parametrize("rows", [50, 20_000])
@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("name", interactive)
def test_what_is_offered_opens_and_answers(name, schema, rows):
    domain = narrowed(SCHEMAS[schema])
    offers = session_offers(domain, CLINIC, BUDGETS[0])
    if name in offers.refused:
        assert str(offers.refused[name])
        return
    standin = StandIn.uniform(domain, CLINIC, rows, np.random.default_rng(0))
    first = domain.names[:1]
    weights = np.zeros(domain.shape(first), dtype=np.int64)
    weights[0] = 1
    asked = [Query(columns=(), weights=np.array(1)), Query(columns=first, weights=weights)]
    _, replies = played(interactive_from(name, BUDGETS[0], offers.found[name]), standin, asked)
    assert all(reply.count >= 0 and 0 <= reply.share <= 1 for reply in replies)
