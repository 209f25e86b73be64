"""Cuts of graphs: what is suggested, cleared and chosen."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.decisions.cuts.min_cut import ENUMERATED
from core.decisions.cuts.suggestions import cleared, contracted, most_suggested, suggested
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Categories, Domain
from core.table.stand_in import StandIn
from tests.kernels import run
from tests.privacy.kit.decisions import (
    ENDS,
    GRAPH,
    neighbouring,
)

ROW = Unit.row()


@pytest.mark.exhaustive
def test_a_larger_graph_is_cut_among_suggestions():
    barbell = nx.barbell_graph(15, 0)
    names = tuple(f"v{place}" for place in range(30))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    table = StandIn(domain, np.array(barbell.edges(), dtype=np.int64), ROW)
    assert len(names) > ENUMERATED
    decision = decision_from("min-cut", Budget(30), ENDS)
    assert decision.value(run(decision, table), table) == 1
    sides = suggested(nx.to_numpy_array(barbell), 0.01, 1.0, np.random.default_rng(0))
    assert not sides[:, 0].any() and sides.any(axis=1).all()


def test_noisy_weights_are_cleared():
    """Of weights 0 and 3 under noise of scale 4: right on average, and with a third less of variance."""
    random = np.random.default_rng(0)
    noise = random.laplace(0, 4.0, 100_000)
    for weight in (0.0, 3.0):
        found = cleared(weight + noise, 4.0, 3.0)
        assert found.mean() == pytest.approx(weight, abs=0.15)
        assert found.var() < 0.67 * noise.var()


def test_no_more_cuts_are_suggested_than_the_promise_counts():
    weights = np.random.default_rng(0).laplace(0, 2, (24, 24))
    assert len(suggested(weights + weights.T, 2.0, 1.0, np.random.default_rng(0))) <= most_suggested(24)


def test_contractions_find_the_smallest_cut():
    """Karger: each one with a chance of at least 2/n^2; on a barbell far more often."""
    generator, barbell = np.random.default_rng(0), nx.to_numpy_array(nx.barbell_graph(5, 0))
    found = [contracted(barbell, generator) for _ in range(40)]
    assert all(0 < side.sum() < 10 for side in found)
    assert sum(set(np.flatnonzero(side)) == set(range(5)) for side in found) > 8
    # Nothing is joined to the last vertex: chance decides, and both sides still have somebody.
    assert 0 < contracted(np.zeros((4, 4)), generator).sum() < 4


def test_a_cut_that_is_not_measured_is_chosen_with_all_of_epsilon():
    with_it, without = (decision_from("min-cut", Budget(1), {**ENDS, "estimated": flag}) for flag in (True, False))
    assert [float(each.epsilon) for each in with_it.cost(GRAPH, ROW).events] == [0.9, 0.1]
    assert [float(each.epsilon) for each in without.cost(GRAPH, ROW).events] == [1.0]
    table = neighbouring(GRAPH, ROW, np.random.default_rng(2))[0]
    assert run(without, table).estimate is None and run(with_it, table).estimate is not None
