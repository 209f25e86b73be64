"""SmallDB over all databases of an ordered column, at the paper's own size."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from core.base.errors import Refused
from core.mechanisms.smalldb.path_choice import PathChoice
from core.mechanisms.smalldb.smalldb import SmallDb
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from tests.kernels import run

QUERY = Intervals(column="x")


def line(bits: int) -> Domain:
    return Domain((Integers(name="x", low=0, high=2**bits - 1),))


def table(domain: Domain, rows: int, unit: Unit) -> Cells:
    cells = domain.cells(("x",))
    shape = 1 + np.sin(np.arange(cells) * 9 / cells)
    return Cells(domain, np.random.default_rng().multinomial(rows, shape / shape.sum()), unit)


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [Unit.row("replace"), Unit.row()], ids=lambda unit: unit.neighbours)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)], ids=["pure", "delta"])
def test_the_papers_mechanism_at_its_own_size(unit, budget):
    """2^10 cells, m = ln|Q|/alpha^2 at alpha 0.2; every interval within the promise, in 95 % of the runs."""
    domain, alpha, rows = line(10), 0.2, 200_000
    size = math.ceil(QUERY.log_size(domain) / alpha**2)
    mechanism = SmallDb(queries=(QUERY,), budget=budget, rows=size, method="paths")
    counts = table(domain, rows, unit)
    released = run(mechanism, counts)
    assert len(released.codes) == size
    promised = mechanism.promise(domain, unit, rows)
    assert promised is not None and promised < 0.2 * rows
    assert QUERY.worst(counts, released) * rows <= promised


@pytest.mark.exhaustive
def test_it_is_far_better_than_a_search():
    domain, unit = line(8), Unit.row("replace")
    counts = table(domain, 50_000, unit)
    paths, search = (
        np.mean([QUERY.worst(counts, run(SmallDb(queries=(QUERY,), budget=Budget(1), **options), counts))
                 for _ in range(3)])
        for options in ({"method": "paths", "rows": 100}, {"method": "search", "rounds": 5, "proposals": 50})
    )  # fmt: skip
    assert paths < search / 3


def test_databases_are_counted_unasked_where_they_cannot_be_listed():
    def kind(bits: int, **options) -> type:
        return type(SmallDb(queries=(QUERY,), budget=Budget(1), **options)._choice(line(bits), Unit.row()))

    assert kind(2) is not PathChoice
    assert kind(8) is kind(12) is PathChoice
    assert kind(2, method="paths") is PathChoice and kind(8, method="search") is not PathChoice


def test_missing_values_are_a_piece_of_their_own():
    domain = Domain((Integers(name="x", low=0, high=3, missing=True), Booleans(name="y")))
    mechanism = SmallDb(queries=(QUERY,), budget=Budget(100), rows=10, method="paths")
    counts = Cells(domain, np.array([[100, 0], [0, 0], [0, 0], [0, 0], [100, 0]]), Unit.row("replace"))
    released = run(mechanism, counts)
    assert np.bincount(released.codes[:, 0], minlength=5)[[0, 4]].sum() >= 9


@pytest.mark.exhaustive
def test_it_says_how_long_it_takes():
    """Within a factor of ten of the processor's time."""
    domain, unit = line(10), Unit.row("replace")
    mechanism = SmallDb(queries=(QUERY,), budget=Budget(1), rows=200, method="paths")
    started = time.process_time()
    run(mechanism, table(domain, 100_000, unit))
    took, said = time.process_time() - started, mechanism.seconds(domain, unit)
    assert said / 10 <= took <= said * 10


def test_other_classes_and_sizes_are_refused():
    with pytest.raises(Refused, match="intervals of one column"):
        SmallDb(queries=(Marginals(order=1),), budget=Budget(1), method="paths").check(line(4), Unit.row())
    with pytest.raises(Refused, match="intervals of one column"):
        SmallDbLinear(queries=(QUERY,), budget=Budget(1), method="paths").check(line(4), Unit.row())
    with pytest.raises(Refused, match="too many"):
        SmallDb(queries=(QUERY,), budget=Budget(1), method="paths", rows=9_000).check(line(16), Unit.row())


@pytest.mark.slow
def test_sixteen_bits():
    """2^16 cells and m = ln|Q|/alpha^2 at alpha 0.15, as the paper has it; at 0.1 it takes 30 s."""
    domain, rows, unit = line(16), 1_000_000, Unit.row("replace")
    size = math.ceil(QUERY.log_size(domain) / 0.15**2)
    mechanism = SmallDb(queries=(QUERY,), budget=Budget(1), rows=size, method="paths")
    counts = table(domain, rows, unit)
    assert 900 < size < 1_000
    assert QUERY.worst(counts, run(mechanism, counts)) <= mechanism.promise(domain, unit, rows) / rows < 0.1
