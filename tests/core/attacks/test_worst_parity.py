"""The worst parity of every mechanism that serves parities, on the bound's own construction."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.worst_parity import DistinctRecords, attacked
from core.base.errors import BadParameter, DeskError
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.parities import Parities
from core.registry import mechanism_from, offline
from core.table.counts import Cells

RECORDS = DistinctRecords(rows=32, facts=8)


def serving() -> list[str]:
    """Mechanisms that take parities of this construction, with the noise that they need."""
    found = []
    for name in offline:
        mechanism = mechanism_from(name, (RECORDS.queries,), budget(name), {})
        try:
            mechanism.check(RECORDS.domain, Unit.row("replace"))
        except DeskError:
            continue
        found.append(name)
    return found


def budget(name: str) -> Budget:
    return Budget(1, 1e-9 if name == "gaussian" else 0)


def test_the_construction_has_different_records():
    counts = DistinctRecords(rows=100, facts=10).counts
    assert counts.cells.max() == 1 and counts.cells.sum() == 100


@pytest.mark.parametrize("shared", [0, 8, 16])
def test_tables_that_share_half_of_their_records_differ_on_some_parity(shared):
    """Lemma A.5, on tables of distinct records and on one record many times."""
    for _ in range(20):
        counts = RECORDS.counts.cells.ravel()
        there, elsewhere = np.flatnonzero(counts == 1), np.flatnonzero(counts == 0)
        chosen = np.concatenate([there[:shared], np.random.default_rng().permutation(elsewhere)[: 32 - shared]])
        for places in (chosen, np.repeat(chosen[-1], 32)):
            other = np.zeros_like(counts)
            np.add.at(other, places, 1)
            worst = RECORDS.queries.worst(RECORDS.counts, Cells(RECORDS.domain, other))
            assert worst >= RECORDS.bound - 1e-12
    assert isinstance(RECORDS.queries, Parities)


@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("name", serving())
def test_every_release_of_records_has_a_parity_beyond_the_bound(name):
    """At epsilon 1; a release that shares more than half would be the exception, and none came near."""
    found = attacked(RECORDS, mechanism_from(name, (RECORDS.queries,), budget(name), {}))
    assert found.shared <= 0.5
    assert found.worst >= RECORDS.bound
    assert found.answered >= 0


def test_enough_mechanisms_serve_parities():
    assert {"tree", "laplace", "gaussian", "histogram", "smalldb", "iterative-weights", "game-data"} <= set(serving())


def test_too_many_rows_for_the_records_are_refused():
    with pytest.raises(BadParameter, match="four times"):
        DistinctRecords(rows=100, facts=8)
