"""Bars of a report: few enough, none left out, and named by what they hold."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from core.release.reports.drawing import MOST_BARS
from core.release.reports.grouping import grouped, together
from core.schema.attributes import Attribute
from core.schema.domain import Categories, Dates, Integers, Reals

COLUMNS = (
    Integers(name="age", low=0, high=120),
    Integers(name="age", low=-7, high=32, missing=True),
    Integers(name="age", low=0, high=99_999, missing=True),
    Reals(name="pay", low=-1, high=1, bins=317, missing=True),
    Dates(name="day", low=date(2024, 1, 1), high=date(2025, 12, 31)),
    Integers(name="age", low=0, high=39),
)


@pytest.mark.parametrize("attribute", COLUMNS, ids=str)
def test_all_rows_are_drawn_in_few_bars(attribute: Attribute) -> None:
    counts = np.arange(1.0, attribute.size + 1)
    labels, bars = grouped(attribute, counts)
    assert len(labels) == len(bars) <= MOST_BARS
    assert bars.sum() == counts.sum()
    assert len(set(labels)) == len(labels)
    assert labels[0].split(" to ")[0] == attribute.label(0).split(" to ")[0]
    last = attribute.regular - 1
    assert labels[-2 if attribute.missing else -1].split(" to ")[-1] == attribute.label(last).split(" to ")[-1]
    if attribute.missing:
        assert (labels[-1], bars[-1]) == ("missing", counts[-1])


def test_each_bar_holds_the_cells_that_it_names() -> None:
    labels, bars = grouped(Integers(name="age", low=0, high=120), np.arange(121.0))
    assert (labels[1], bars[1]) == ("5 to 9", 5 + 6 + 7 + 8 + 9)
    assert (labels[-1], bars[-1]) == ("120", 120.0)


def test_what_has_no_order_is_not_put_together() -> None:
    towns = Categories(name="town", values=tuple(f"t{place}" for place in range(MOST_BARS + 5)))
    assert together(towns) == 1
    labels, bars = grouped(towns, np.ones(towns.size))
    assert len(labels) == len(bars) == towns.size
