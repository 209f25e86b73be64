"""A session over a noisy histogram: measured once when it opens, then every question is free."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns, Floats
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, tail_of_sum
from core.kernel.query import Query
from core.mechanisms.direct.histogram import NoisyHistogram
from core.mechanisms.kit.interactive import Reply
from core.mechanisms.kit.intervals import ROWS_MISS, KnownTotal, reply
from core.mechanisms.kit.portions import Noisy, Portion, expected_of, measure_tables, price
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.online.histogram_fit import fit_histogram, small_tables
from core.mechanisms.online.online import check_question
from core.mechanisms.online.plan import ROWS_SHARE, pure_part
from core.mechanisms.online.state import CachedSource
from core.mechanisms.tree.interactions import measure as measure_interactions
from core.models.histogram import Histogram
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.spendable import mixed_rho_for, rho_for
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain

ONES_SHARE, TWOS_SHARE = Fraction(1, 10), Fraction(1, 5)
"""Parts of the budget for tables of one and of two columns. Measured on fourteen yes/no columns of a generated survey
(48,000 rows, epsilon 1, delta 1e-9, four runs each): mean and largest error are .098 and .41 % of the rows with parts
of 1/20 and 1/20, .091 and .42 % with 1/20 and 1/10, .073 and .35 % with these, .086 and .42 % with 1/20 and 3/10."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramState:
    """What a session remembers; all of it is public."""

    rows: float
    """Number of rows: public, or the best estimate."""
    rows_sigma: float
    raw: CachedSource
    """The histogram as it was measured: unbiased."""
    model: CachedSource
    """One near it without negative counts: it answers."""
    sigma: float
    """Standard deviation of the noise in each raw cell."""

    left: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class OnlineHistogram:
    """Measure a noisy histogram of every combination when the session opens, and answer everything from it.

    **Privacy** one noisy histogram, and the number of rows where that is private. With delta = 0: discrete Laplace
    noise, the epsilons add up. With delta > 0: three tenths of the divergence go to tables of one and two columns with
    rounded Gaussian noise, or to their interactions (`interactions.Interaction`) where these need less, the rest to the
    histogram, with Laplace or Gaussian noise, whichever is smaller at that price. A unit changes one table by at most
    unit.l1 (L1) and unit.l2_squared (squared L2).

    **Accuracy** a question that covers k of |X| combinations is off by about sqrt(min(k, |X| - k)) times the noise of
    one cell. Negative counts are removed such that small tables stay right (`histogram_fit.py`), which lowers the error
    but is not free of bias: the margin is the tail of the raw sum plus the distance between it and the answer.

    **Runtime** one table of the histogram per answer, kept for the next question about the same columns.

    Theorem: B section 2.4; parallel composition over the disjoint cells of one table. Answers are post-processing.
    """

    name: ClassVar[str] = "online-histogram"
    title: ClassVar[str] = "Answers from a noisy histogram"
    known_as: ClassVar[tuple[str, ...]] = ("noisy histogram",)
    prefer: ClassVar[str] = "Choose it on a small schema: any number of questions, all of them free."
    refines: ClassVar[bool] = False

    budget: Budget

    def check(self, domain: Domain, unit: Unit) -> None:
        NoisyHistogram(queries=(), budget=self.budget).check(domain, unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return price(self._portions(domain, unit))

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        return None

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return expected_of(self._portions(domain, unit)[:1], domain, unit, "The count of each combination")

    def slot(self, domain: Domain) -> float:
        return 0.002 + 5e-9 * domain.cells()

    def open(self, kernel: Kernel, earlier: Source | None = None) -> HistogramState:
        domain = kernel.domain
        self.check(domain, kernel.unit)
        noisy = _measured(kernel, self._portions(domain, kernel.unit), self.budget.pure)
        model = fit_histogram(domain, noisy, kernel.public_rows)
        rows_sigma = 0.0 if kernel.public_rows is not None else _rows_noise(noisy)
        return _state(domain, noisy.tables[domain.names], model.cells, noisy.sigmas[domain.names], rows_sigma)

    def answer(self, state: HistogramState, question: Query, kernel: Kernel) -> tuple[HistogramState, Reply]:
        check_question(question, kernel.domain)
        count = float(question.total(state.model)) / question.denominator
        apart = abs(count - _raw(state, question))
        total = KnownTotal(state.rows, tail_of_sum(state.rows_sigma, ROWS_MISS))
        return state, reply(count, total, lambda miss: apart + _spread(state, question, miss), "easy", None)

    def peek(self, state: HistogramState) -> Source | None:
        return state.model.source

    def left(self, state: HistogramState) -> int | None:
        return None

    def released_rows(self, state: HistogramState) -> float:
        return float(state.model.marginal(()).sum())

    def save(self, state: HistogramState) -> bytes:
        buffer, names = io.BytesIO(), state.model.domain.names
        tables = {"raw": state.raw.source.marginal(names), "cells": state.model.source.marginal(names)}
        np.savez(buffer, sigmas=np.array([state.sigma, state.rows_sigma]), **tables)  # type: ignore[arg-type]
        return buffer.getvalue()

    def load(self, domain: Domain, data: bytes) -> HistogramState:
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            sigma, rows_sigma = held["sigmas"].tolist()
            return _state(domain, held["raw"], held["cells"], sigma, rows_sigma)

    def _portions(self, domain: Domain, unit: Unit) -> tuple[Portion, ...]:
        """The histogram first, then what is measured beside it."""
        shares = self._beside(domain, unit)
        left = 1 - sum(shares.values(), Fraction(0))
        names = tuple(domain.names)
        if self.budget.pure:
            return _portions(names, Laplace(self.budget.epsilon * left), Laplace, self.budget.epsilon, shares)
        whole, mixed = rho_for(self.budget), mixed_rho_for(self.budget)
        # All with Gaussian noise, or the histogram with Laplace noise beside small tables with Gaussian noise.
        every = _portions(names, Gaussian(whole * left), Gaussian, whole, shares)
        some = _portions(names, Laplace(pure_part(self.budget, left, 1)), Gaussian, mixed, shares)
        return min(every, some, key=lambda portions: portions[0].level(unit).sigma)

    def _beside(self, domain: Domain, unit: Unit) -> dict[Columns, Fraction]:
        """Parts of the budget for small tables; only with delta above 0, where many of them are cheap."""
        tables = [] if self.budget.pure else small_tables(domain, 2)
        ones, twos = ([columns for columns in tables if len(columns) == size] for size in (1, 2))
        shares = {columns: ONES_SHARE / len(ones) for columns in ones}
        shares |= {columns: TWOS_SHARE / len(twos) for columns in twos}
        return shares if unit.public_rows else {(): ROWS_SHARE, **shares}


def _measured(kernel: Kernel, portions: Sequence[Portion], pure: bool) -> Noisy:
    """The histogram, the number of rows, and of small tables what they say beyond smaller ones where that is better."""
    small = [portion for portion in portions[1:] if portion.columns]
    first = measure_tables(kernel, [portion for portion in portions if portion not in small])
    return first.joined(measure_interactions(kernel, small, pure))


def _portions(
    names: Columns,
    table: Additive,
    kind: type[Laplace] | type[Gaussian],
    whole: Fraction,
    shares: dict[Columns, Fraction],
) -> tuple[Portion, ...]:
    return (Portion(names, table), *(Portion(columns, kind(whole * share)) for columns, share in shares.items()))


def _state(domain: Domain, raw: Floats, cells: Floats, sigma: float, rows_sigma: float) -> HistogramState:
    model = Histogram(domain, cells)
    return HistogramState(
        rows=max(1.0, model.total),
        rows_sigma=rows_sigma,
        raw=CachedSource(Histogram(domain, raw)),
        model=CachedSource(model),
        sigma=sigma,
    )


def _rows_noise(noisy: Noisy) -> float:
    """Standard deviation of the number of rows: all sums of tables, joined by inverse variance."""
    told = {columns: table for columns, table in noisy.tables.items() if columns not in noisy.residual}
    return float(sum(1 / (table.size * noisy.sigmas[columns] ** 2) for columns, table in told.items()) ** -0.5)


def _raw(state: HistogramState, question: Query) -> float:
    """The answer of the raw histogram: by the cells that count, or by all rows less those that do not."""
    if not _complement(question):
        return float(question.total(state.raw)) / question.denominator
    rest = (question.denominator - question.weights) * state.raw.marginal(question.columns)
    return state.rows - float(rest.sum()) / question.denominator


def _spread(state: HistogramState, question: Query, miss: float) -> float:
    """The noise of that answer is larger with this probability, at most."""
    weights = question.weights / question.denominator
    taken = 1 - weights if _complement(question) else weights
    cells = state.raw.domain.cells() / weights.size * float((taken**2).sum())
    rows = state.rows_sigma if _complement(question) else 0.0
    return tail_of_sum(math.sqrt(state.sigma**2 * cells + rows**2), miss)


def _complement(question: Query) -> bool:
    return 2 * int(question.weights.sum()) > question.denominator * question.weights.size
