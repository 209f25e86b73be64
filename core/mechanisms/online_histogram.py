"""A session over a noisy histogram: measured once when it opens, then every question is free."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.accounting import capacity, order_for, pure_for, units
from core.counts import Counts
from core.domain import Domain
from core.mechanisms.histogram import NoisyHistogram, projected
from core.mechanisms.interactive import Reply
from core.mechanisms.online import fitting
from core.mechanisms.online_state import Remembering
from core.mechanisms.protocol import Expected
from core.models.histogram import Histogram
from core.models.protocol import Floats
from core.noise import NoiseSource
from core.privacy import Budget, Cost, Unit
from core.queries.protocol import Source
from core.queries.query import Query

TAIL = math.log(20) / math.sqrt(2)
"""Standard deviations of Laplace noise that are exceeded 5 % of the time; of Gaussian noise they are fewer."""


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """What a session remembers; all of it is public."""

    rows: float
    """Number of rows: public, or the best estimate."""
    rows_sigma: float
    raw: Remembering
    """The histogram as it was measured: unbiased."""
    model: Remembering
    """The nearest one without negative counts: it answers."""
    sigma: float
    """Standard deviation of the noise in each raw cell."""

    left: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class OnlineHistogram:
    """Measure a noisy histogram of every combination when the session opens, and answer everything from it.

    **Privacy** that of `histogram`: one release of the whole universe, with discrete Laplace noise also where delta is
    above 0 if the pure event that the budget can pay has the smaller noise.

    **Accuracy** a question that covers k of |X| combinations is off by about sqrt(min(k, |X| - k)) times the noise of
    one cell, before the projection, which removes most of the error of empty cells but is not free of bias. The margin
    is therefore the tail of the raw sum plus the distance between raw and projected answer.

    **Runtime** one table of the histogram per answer, kept for the next question about the same columns.

    Theorem: B section 2.4; parallel composition over the disjoint cells of one table. Answers are post-processing.
    """

    name: ClassVar[str] = "online-histogram"
    title: ClassVar[str] = "Answers from a noisy histogram"
    prefer: ClassVar[str] = "Choose it up to some 16,000 combinations: any number of questions, all of them free."

    budget: Budget

    def check(self, domain: Domain, unit: Unit) -> None:
        self._release(domain, unit).check(domain, unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._release(domain, unit).cost(domain, unit)

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        return None

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return self._release(domain, unit).expected(domain, unit)

    def slot(self, domain: Domain) -> float:
        return 0.002 + 5e-9 * domain.cells()

    def open(self, counts: Counts, noise: NoiseSource, earlier: Source | None = None) -> State:
        measured = self._release(counts.domain, counts.unit).measured(counts, noise)
        model = projected(counts.domain, measured, counts.public_rows)
        table, sigma = measured[0].values.astype(np.float64), measured[0].sigma
        return _state(counts.domain, table, model.cells, sigma, measured[1].sigma if len(measured) > 1 else 0.0)

    def answer(self, state: State, question: Query, counts: Counts, noise: NoiseSource) -> tuple[State, Reply]:
        fitting(question, counts.domain)
        count = float(question.total(state.model)) / question.denominator
        margin = abs(count - _raw(state, question)) + _spread(state, question)
        share = min(1.0, count / state.rows)
        return state, Reply(count=count, share=share, margin=margin, kind="easy", left=None)

    def peek(self, state: State) -> Source | None:
        return state.model.source

    def save(self, state: State) -> bytes:
        buffer, names = io.BytesIO(), state.model.domain.names
        tables = {"raw": state.raw.source.marginal(names), "cells": state.model.source.marginal(names)}
        np.savez(buffer, sigmas=np.array([state.sigma, state.rows_sigma]), **tables)  # type: ignore[arg-type]
        return buffer.getvalue()

    def load(self, domain: Domain, data: bytes) -> State:
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            sigma, rows_sigma = held["sigmas"].tolist()
            return _state(domain, held["raw"], held["cells"], sigma, rows_sigma)

    def _release(self, domain: Domain, unit: Unit) -> NoisyHistogram:
        """The histogram with the smaller noise of the two kinds that this budget can pay."""
        usual = NoisyHistogram(queries=(), budget=self.budget)
        if self.budget.pure or not (epsilon := pure_for(self.budget)):
            return usual
        pure = NoisyHistogram(queries=(), budget=Budget(epsilon))
        if units(pure.cost(domain, unit), order_for(self.budget)) > capacity(self.budget):
            return usual
        return pure if pure.sigma(domain, unit) < usual.sigma(domain, unit) else usual


def _state(domain: Domain, raw: Floats, cells: Floats, sigma: float, rows_sigma: float) -> State:
    model = Histogram(domain, cells)
    return State(
        rows=max(1.0, model.total),
        rows_sigma=rows_sigma,
        raw=Remembering(Histogram(domain, raw)),
        model=Remembering(model),
        sigma=sigma,
    )


def _raw(state: State, question: Query) -> float:
    """The answer of the raw histogram: by the cells that count, or by all rows less those that do not."""
    if not _complement(question):
        return float(question.total(state.raw)) / question.denominator
    rest = (question.denominator - question.weights) * state.raw.marginal(question.columns)
    return state.rows - float(rest.sum()) / question.denominator


def _spread(state: State, question: Query) -> float:
    """The 95 % tail of the noise of that answer.

    A weighted sum of Laplace noises has no heavier 95 % tail than one of them of the same variance: ln(20)/sqrt(2) =
    2.12 standard deviations.
    """
    weights = question.weights / question.denominator
    taken = 1 - weights if _complement(question) else weights
    cells = state.raw.domain.cells() / weights.size * float((taken**2).sum())
    rows = state.rows_sigma if _complement(question) else 0.0
    return TAIL * math.sqrt(state.sigma**2 * cells + rows**2)


def _complement(question: Query) -> bool:
    return 2 * int(question.weights.sum()) > question.denominator * question.weights.size
