"""What a measurement or a comparison says of a question, and what a hypothesis is to learn of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.kernel.compared import GRID
from core.kernel.disjoint import DisjointQueries
from core.kernel.noise_level import Measurement, tail_of_sum
from core.kernel.query import Query, Single
from core.kernel.tables import Marginal
from core.mechanisms.kit.answers import NoisyAnswer
from core.mechanisms.kit.comparing import margin
from core.mechanisms.kit.intervals import Reach
from core.mechanisms.online.state import OnlineState

MOST_TABLE = 64
"""Cells of a table that is measured in the place of one of its cells. Each cell has noise of its own, so a large table
teaches more noise than truth: on 14 columns of census data sessions that measured every table got worse with each
update (mean .0100 instead of .0024), and some ended in an overflow."""


def one_cell(question: Query) -> bool:
    """Whether summing the cells of a noisy table is no noisier than asking the question itself."""
    weights = question.weights / question.denominator
    return float((weights**2).sum()) <= 1


def easy_reach(state: OnlineState, miss: float) -> float:
    """In rows: how far an easy answer is off at most; the noises of its comparison hid more with this probability."""
    return (state.threshold + margin(state.sparse.run, miss)) / GRID


def read_measured(measured: Measurement, question: Single) -> tuple[float, Reach]:
    """A question's answer in rows from what was measured, and how far off it is."""
    level = measured.level
    if not isinstance(measured.asked, Marginal) or not isinstance(question, Query):
        return float(measured.values) / question.denominator, lambda miss: level.tail(miss) / question.denominator
    weights = question.weights / question.denominator
    value, largest = float((weights * measured.values).sum()), float(weights.max())
    if np.count_nonzero(weights) == 1:
        return value, lambda miss: largest * level.tail(miss)
    sigma = measured.sigma * math.sqrt(float((weights**2).sum()))
    return value, lambda miss: tail_of_sum(sigma, miss)


def lesson(asked: DisjointQueries, measured: Measurement, guesses: NDArray[np.float64], *, tables: bool) -> NoisyAnswer:
    """What is learnt of measured groups: a small table as a whole, otherwise the group that was furthest off."""
    cells = [query.weights for query in asked.queries]
    if tables and asked.denominator == 1 and len(cells) == cells[0].size <= MOST_TABLE:
        table = sum(weights * value for weights, value in zip(cells, measured.values, strict=True))
        return NoisyAnswer(Marginal(asked.columns), np.asarray(table), measured.sigma)
    worst = int(np.abs(measured.values / asked.denominator - guesses).argmax())
    return NoisyAnswer(asked.queries[worst], measured.values[worst], measured.sigma)
