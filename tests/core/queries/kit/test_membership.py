"""Members of a class are recognised, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from core.kernel.query import Query
from core.queries.intervals import Intervals
from core.queries.kit.membership import is_member
from core.queries.linear import Linear
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="x", low=0, high=9), Integers(name="y", low=0, high=3)))
BOX = np.zeros((10, 4), dtype=np.int64)
BOX[2:5, 1:3] = 1


def span(first: int, last: int) -> np.ndarray:
    return ((np.arange(10) >= first) & (np.arange(10) < last)).astype(np.int64)


@pytest.mark.parametrize(
    ("question", "query", "member"),
    [
        (Query(columns=("x",), weights=span(2, 7)), Intervals(column="x"), True),
        (Query(columns=("x",), weights=8 * span(2, 7), denominator=8), Intervals(column="x"), True),
        (Query(columns=("x",), weights=4 * span(2, 7), denominator=8), Intervals(column="x"), False),
        (Query(columns=("x",), weights=span(2, 4) + span(6, 7)), Intervals(column="x"), False),
        (Query(columns=("y",), weights=np.array([1, 1, 0, 0])), Intervals(column="x"), False),
        (Query(columns=("x", "y"), weights=BOX), Rectangles(columns=("x", "y")), True),
        (Query(columns=("y", "x"), weights=BOX.T), Rectangles(columns=("x", "y")), True),
        (Query(columns=("x", "y"), weights=BOX), Intervals(column="x"), False),
        (Query(columns=("x", "y"), weights=1 - BOX), Rectangles(columns=("x", "y")), False),
        (Query(columns=("y",), weights=np.array([1, 0, 2, 4]), denominator=4),
         Linear(columns=("y",), weights=((256, 0, 512, 1024),)), True),
        (Query(columns=("y",), weights=np.array([1, 0, 2, 4]), denominator=4),
         Linear(columns=("y",), weights=((256, 0, 512, 1023),)), False),
    ],
)  # fmt: skip
def test_members_are_recognised(question, query, member):
    assert is_member(question, query, DOMAIN) == member
