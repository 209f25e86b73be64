"""What is recommended first, from public facts alone."""

from core.planning import budget_for
from core.planning.recommendation import ranked, recommend
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=15) for name in "abc"))
PURE, APPROXIMATE = Budget(1), Budget(1, "1e-9")


def expected(queries, domain, budget, names):
    return {name: budget_for.expected(name, queries, budget, {}, domain, Unit.row()) for name in names}


def first(queries, domain, budget):
    names = ["histogram", "laplace", *([] if budget.pure else ["gaussian"])]
    if {query.name for query in queries} == {"intervals"}:
        names.append("interval-tree")
    return recommend(queries, domain, budget, expected(queries, domain, budget, names))[0]


def test_small_schemas():
    assert first([Intervals(column="a")], DOMAIN.project(["a"]), PURE) == "interval-tree"
    assert first([Marginals(order=3)], DOMAIN, APPROXIMATE) == "histogram"
    assert first([Marginals(order=1)], DOMAIN, APPROXIMATE) == "laplace", "few small tables beat all combinations"
    many = Domain(tuple(Integers(name=f"c{place}", low=0, high=1) for place in range(14)))
    assert first([Marginals(order=2)], many, APPROXIMATE) == "gaussian", "so do many, with Gaussian noise"
    assert first([Marginals(order=1)], DOMAIN, PURE) == "laplace"


def test_whole_tables_of_a_large_schema_get_the_tree():
    wide = Domain(tuple(Integers(name=f"c{place}", low=0, high=15) for place in range(8)))
    asked = [Marginals(order=2), Intervals(column="c0")]
    found = expected(asked, wide, APPROXIMATE, ("tree", "gaussian"))
    assert recommend(asked, wide, APPROXIMATE, found) == ["tree", "gaussian"]
    assert recommend(asked, wide, APPROXIMATE, {"gaussian": found["gaussian"]}) == ["gaussian"]


def test_the_others_follow_as_the_registry_lists_them():
    found = expected([Marginals(order=1)], DOMAIN, PURE, ("histogram", "laplace", "tree"))
    assert ranked([Marginals(order=1)], DOMAIN, PURE, found) == ["laplace", "tree", "histogram"]
