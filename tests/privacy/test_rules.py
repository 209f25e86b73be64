"""The whole way on neighbours where the schema declares rules that both tables break: rules are post-processing.

What is asked of the kernel, charged and published must follow from the answers of the noise alone, whatever rows break
a rule; and every published record keeps all rules.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from core import Budget, Desk, Marginals, Unit
from core.release.lawful import Lawful
from tests.privacy.kit import cases
from tests.privacy.kit.pipeline import Pair, Registered, Step, release, replayed_on
from tests.privacy.kit.sources import DOMAIN, FORMATS, neighbours

RULES = (
    "never: a = 3 and b = 1",
    "if c = 1 then ill = true",
    "a >= b",
    "town -> ill",
    "count(b = 0) = 30",
    "count(b = 1) = 12",
    "count(a >= 2) = 9",
)
LAWFUL = DOMAIN.obeying(RULES)
ASKED = (Marginals(order=2, columns=("a", "b", "c", "town", "ill")),)
WAYS = [
    ("tree", Unit.row(), cases.APPROXIMATE),
    pytest.param("tree", Unit.row("replace"), cases.PURE, marks=pytest.mark.slow),
    pytest.param("tree", Unit.id("person", 3), cases.APPROXIMATE, marks=pytest.mark.slow),
    pytest.param("laplace", Unit.row(), cases.PURE, marks=pytest.mark.slow),
    ("histogram", Unit.id("person", 3, "replace"), cases.PURE),
    pytest.param("gaussian", Unit.row(), cases.APPROXIMATE, marks=pytest.mark.slow),
]


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with cases.few_points():
        yield


def lawful_release(mechanism: str) -> Step:
    """A release whose records are looked at."""
    made = release(mechanism, ASKED, {})

    def go(desk: Desk, source: Any, held: Registered) -> tuple[Any, ...]:
        published = made(desk, source, held)
        stored = desk.result(published[0])
        assert stored is not None
        records = pd.read_parquet(io.BytesIO(stored.parquet()))
        assert len(records) == 42 and not Lawful.of(LAWFUL).violations(records)
        assert desk.tables()[0].notes["broken_rules"]["count(b = 0) = 30"] > 0
        return published

    return go


@pytest.mark.exhaustive
@pytest.mark.parametrize(("mechanism", "unit", "budget"), WAYS, ids=lambda each: getattr(each, "neighbours", None))
def test_rules_change_nothing_about_what_is_asked(mechanism: str, unit: Unit, budget: Budget) -> None:
    pair = Pair(LAWFUL, *neighbours(unit, "last", 1), FORMATS["frame"], "last")
    assert replayed_on(pair, [lawful_release(mechanism)], unit, budget) == 1
