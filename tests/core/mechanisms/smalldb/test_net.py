from __future__ import annotations

import math

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.mechanisms.smalldb.net import Net
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.theory.release import NetBound as Theorem
from tests.core.samples import SMALL, small_counts
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

LINE = Domain((Integers(name="x", low=0, high=3),))
INTERVALS = (Intervals(column="x"),)


def test_all_databases_are_an_alpha_net_and_the_theorem_holds():
    alpha, slack, epsilon = 0.25, 0.1, 1.0
    mechanism = Net(queries=INTERVALS, budget=Budget(epsilon), net="all", accuracy=alpha)
    size = mechanism._choice(LINE, Unit.row()).width
    rows = Theorem(log_net=math.log(size), net_alpha=alpha).rows(alpha + slack, epsilon)
    assert rows == pytest.approx(2 * (math.log(size) + math.log(20)) / (slack * epsilon), abs=1)
    generator = np.random.default_rng(8)
    failures = 0
    for _ in range(30):
        table = generator.multinomial(rows, generator.dirichlet(np.full(4, 0.4)))
        counts = Cells(LINE, table, Unit.row("replace"))
        failures += INTERVALS[0].worst(counts, run(mechanism, counts, Noise())) > alpha + slack
    assert failures <= 6


def test_the_net_is_made_without_the_data():
    first, second = Recorder(3), Recorder(3)
    mechanism = Net(queries=(Marginals(order=2),), budget=Budget(1), net="random", members=50)
    run(mechanism, small_counts(5_000), first)
    run(mechanism, small_counts(10, seed=9), second)
    assert [call.hidden.shape for call in first.calls] == [call.hidden.shape for call in second.calls] == [(), (50,)]


def test_one_choice_is_paid_for():
    assert len(Net(queries=INTERVALS, budget=Budget(1)).cost(LINE, Unit.row("replace")).events) == 1


def test_the_net_follows_from_the_size():
    def method(domain, queries, **options):
        return Net(queries=queries, budget=Budget(1), **options)._choice(domain, Unit.row()).method

    assert method(LINE, INTERVALS) == "enumerate"
    assert method(LINE, INTERVALS, net="random") == "net"
    assert method(SMALL, (Marginals(order=2),)) == "net"
    assert method(SMALL, (Marginals(order=2),), rows=3) == "enumerate"


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"net": "wide"}, "net"), ({"members": 0}, "members"), ({"rows": 1.5}, "rows"), ({"accuracy": "x"}, "accuracy")],
)
def test_bad_options_are_named(options, parameter):
    with pytest.raises(BadParameter) as caught:
        Net(queries=INTERVALS, budget=Budget(1), **options)
    assert caught.value.parameter == parameter
