"""Rehearsals of decisions on invented rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import registry
from core.base.errors import BadFile
from core.planning.decision_rehearsal import invented, rehearse_decision, rehearse_on_public_rows
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from tests.privacy.kit.decisions import PEOPLE, built


@pytest.mark.parametrize("name", registry.decisions)
def test_every_decision_can_be_rehearsed(name):
    decision, domain = next(built(name, Budget(50)))
    found = rehearse_decision(decision, domain, Unit.row(), rows=60, runs=2)
    assert len(found) == 2
    assert all(0.3 <= each.ratio <= 3.5 for each in found)


def test_public_rows_are_decided_on_as_they_are():
    decision, domain = next(built("k-median-counts", Budget(90)))
    rows = pd.DataFrame({"x": [2] * 60 + [0], "y": [0] * 60 + [1]})
    found = rehearse_on_public_rows(decision, rows, domain, Unit.row(), runs=3)
    assert [each.decided.facts["open"] for each in found] == [["o"]] * 3
    assert all(each.ratio == 1 for each in found)
    with pytest.raises(BadFile, match="'y'"):
        rehearse_on_public_rows(decision, rows[["x"]], domain, Unit.row(), runs=1)


def test_invented_rows_are_uneven_and_within_the_schema():
    table = invented(PEOPLE, Unit.row(), 5_000, np.random.default_rng(0))
    assert table.codes.min() >= 0 and (table.codes < np.array(PEOPLE.sizes)).all()
    counts = table.marginal(("x", "y"))
    assert counts.max() > 1.5 * counts.mean()
