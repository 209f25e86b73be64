"""What the reports to one question say: shares with intervals, ranges, a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.local.estimation.curve import curve
from core.local.estimation.shrinkage import shrunk
from core.local.question import LocalQuestion
from core.local.randomisers.hierarchy import Hierarchy
from core.local.randomisers.piecewise import Piecewise
from core.local.randomisers.protocol import Randomiser, ReportArray, Support
from core.local.randomisers.square_wave import SquareWave
from core.schema.domain import Domain

SURE = 1.959963984540054
"""Deviations of a 95 % interval."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanEstimate:
    """A mean in the units of its column, with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionEstimate:
    """What is known about one question. Intervals are for each figure by itself, at 95 %."""

    question: LocalQuestion
    people: int
    """How many reports answer it."""
    shares: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    raw: Floats | None = None
    """Shares before anything was shrunk or cut at zero; what is joined with other questions is made of these."""
    deviations: Floats | None = None
    """Standard deviation of each raw share."""
    covariance: Floats | None = None
    """Of all shares, where they are not nearly independent: neighbours on a smooth curve err together."""
    mean: MeanEstimate | None = None
    range_deviation: float | None = None
    """Standard deviation of the share of any range, where ranges were asked for."""


@dataclass(frozen=True, eq=False)
class FoundShares:
    """Shares of all answers, and how sure they are."""

    values: Floats
    raw: Floats
    """Before anything was shrunk or cut at zero."""
    deviations: Floats
    """Standard deviation of each raw share."""
    mean_deviation: float | None = None
    """Of the mean of a numeric column."""
    covariance: Floats | None = None


def estimated(
    question: LocalQuestion, domain: Domain, randomiser: Randomiser, reports: ReportArray
) -> QuestionEstimate:
    """The estimate of one question from its reports alone."""
    people = len(reports)
    if isinstance(randomiser, Piecewise):
        return QuestionEstimate(question=question, people=people, mean=_mean_of(question, domain, randomiser, reports))
    found = shares_of(question, domain, randomiser, reports)
    reach = SURE * np.where(np.isfinite(found.deviations), found.deviations, 1.0)
    return QuestionEstimate(
        question=question,
        people=people,
        shares=found.values,
        low=np.clip(np.minimum(found.raw - reach, found.values), 0.0, 1.0),
        high=np.clip(np.maximum(found.raw + reach, found.values), 0.0, 1.0),
        raw=found.raw,
        deviations=found.deviations,
        covariance=found.covariance,
        mean=_mean_from(question, domain, found),
        range_deviation=randomiser.range_deviation(people) if isinstance(randomiser, Hierarchy) else None,
    )


def shares_of(question: LocalQuestion, domain: Domain, randomiser: Randomiser, reports: ReportArray) -> FoundShares:
    """Shares of all answers from the reports of any randomiser that tells them."""
    people = len(reports)
    centers = _centers(question, domain)
    if isinstance(randomiser, SquareWave):
        shares, covariance = curve(randomiser, reports)
        if covariance is None:
            return FoundShares(shares, shares, np.full(shares.size, np.inf))
        spread = None if centers is None else float(np.sqrt(max(float(centers @ covariance @ centers), 0.0)))
        return FoundShares(shares, shares, np.sqrt(np.maximum(np.diag(covariance), 0.0)), spread, covariance)
    if isinstance(randomiser, Hierarchy):
        return from_hierarchy(randomiser, randomiser.shares(randomiser.tally(reports)), people, centers)
    assert isinstance(randomiser, Support)
    return settle(question, domain, randomiser, randomiser.unbiased(randomiser.tally(reports), people), people)


def from_hierarchy(randomiser: Hierarchy, shares: Floats, people: int, centers: Floats | None) -> FoundShares:
    # A single answer is at least as exact as its own level makes it; a mean is an average of ranges.
    own = float(randomiser.levels[-1].variance(0.0, 1)) * len(randomiser.levels)
    deviations = np.sqrt((own + shares * (1 - shares)) / max(people, 1))
    width = None if centers is None else float(centers[-1] - centers[0]) * randomiser.range_deviation(people)
    return FoundShares(shares, shares, deviations, width)


def settle(question: LocalQuestion, domain: Domain, randomiser: Support, raw: Floats, people: int) -> FoundShares:
    """Shares from unbiased ones. Errors of different answers are correlated by chance only, less than -1/k each."""
    sigma = float(np.sqrt(randomiser.variance(1 / randomiser.values, people)))
    shares = shrunk(raw, sigma, question.groups(domain), question.reach(domain))
    deviations = np.sqrt(randomiser.variance(shares, people))
    centers = _centers(question, domain)
    if centers is None:
        return FoundShares(shares, raw, deviations)
    middle = (centers[0] + centers[-1]) / 2
    spread = float(np.sqrt(np.sum(((centers - middle) * deviations) ** 2)))
    return FoundShares(shares, raw, deviations, spread + abs(float((raw - shares) @ (centers - middle))) / SURE)


def _centers(question: LocalQuestion, domain: Domain) -> Floats | None:
    """The numbers behind the answers, where a mean makes sense."""
    attribute = domain[question.columns[0]]
    if len(question.columns) > 1 or not attribute.numeric or attribute.size != attribute.regular:
        return None
    return attribute.centers()


def _mean_of(
    question: LocalQuestion, domain: Domain, randomiser: Piecewise, reports: ReportArray
) -> MeanEstimate | None:
    centers = domain[question.columns[0]].centers()
    if not len(reports):
        return None
    code, deviation = randomiser.mean(randomiser.tally(reports))
    step = (centers[-1] - centers[0]) / (len(centers) - 1)
    ends = (code - SURE * deviation, code, code + SURE * deviation)
    low, value, high = (float(np.clip(centers[0] + step * end, centers[0], centers[-1])) for end in ends)
    return MeanEstimate(value=value, low=low, high=high)


def _mean_from(question: LocalQuestion, domain: Domain, found: FoundShares) -> MeanEstimate | None:
    """The mean of a numeric column from its shares; what shrinking moved is added to the interval."""
    centers = _centers(question, domain)
    if centers is None or found.mean_deviation is None:
        return None
    value, off = float(found.values @ centers), SURE * found.mean_deviation
    ends = np.clip([value - off, value + off], centers[0], centers[-1])
    return MeanEstimate(value=value, low=float(ends[0]), high=float(ends[1]))
