"""The result of a collection: estimates of every question, with intervals, and a model that joins them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from core.base.arrays import Floats
from core.base.errors import BadParameter, Refused
from core.local.certificate import LocalCertificate, certify_reports
from core.local.estimation.answers import SURE, QuestionEstimate, estimated
from core.local.joint import joined
from core.local.plan import CollectPlan, described
from core.local.reports import CollectedReports, read_reports
from core.models.junction_tree import JunctionTree
from core.privacy.noise import Noise


@dataclass(frozen=True, eq=False)
class LocalEstimates:
    """What reports say under their plan. Everything in it may be given to anyone."""

    collected: CollectedReports
    liars: float = 0.0
    """The share of reports that is assumed to follow no law; intervals are widened by what they can do."""

    def __post_init__(self) -> None:
        if not 0 <= self.liars < 1:
            raise BadParameter("liars", "must be at least 0 and below 1.")

    @property
    def plan(self) -> CollectPlan:
        return self.collected.plan

    @cached_property
    def questions(self) -> tuple[QuestionEstimate, ...]:
        triples = zip(self.plan.questions, self.plan.randomisers, self.collected.reports, strict=True)
        return tuple(estimated(question, self.plan.domain, one, reports) for question, one, reports in triples)

    def lied(self, place: int) -> float:
        """How much the assumed liars can move one figure: a share, or for a mean a share of its range."""
        return min(1.0, self.plan.randomisers[place].liars(self.liars)) if self.liars else 0.0

    def ends(self, place: int) -> tuple[Floats, Floats]:
        """The 95 % interval of each share, widened by what the assumed liars can do."""
        found = self.questions[place]
        if found.low is None or found.high is None:
            raise BadParameter("question", f"'{described(found.question)}' asks for a mean only.")
        return np.maximum(found.low - self.lied(place), 0.0), np.minimum(found.high + self.lied(place), 1.0)

    def share_between(self, place: int, first: int, last: int) -> tuple[float, float, float]:
        """The share of answers from one code to another, both included, with the ends of its 95 % interval."""
        found = self.questions[place]
        if found.shares is None or found.deviations is None:
            raise BadParameter("question", f"'{described(found.question)}' asks for a mean only.")
        value = float(found.shares[first : last + 1].sum())
        inside = slice(first, last + 1)
        if found.range_deviation is not None:
            deviation = found.range_deviation
        elif found.covariance is not None:
            deviation = float(np.sqrt(max(found.covariance[inside, inside].sum(), 0.0)))
        else:
            deviation = float(np.sqrt(np.sum(found.deviations[inside] ** 2)))
        off = SURE * deviation + self.lied(place)
        return value, max(0.0, value - off), min(1.0, value + off)

    @cached_property
    def model(self) -> JunctionTree | None:
        return joined(self.plan.domain, self.questions, self.collected.people)

    def records(self, rows: int | None = None) -> pd.DataFrame:
        """Synthetic records of all columns whose shares are known, one per report unless a number is given."""
        if self.model is None:
            raise Refused("There are no shares to draw records from; collect reports to a question about shares first.")
        generator = Noise().generator()
        codes = self.model.sample(self.collected.people if rows is None else rows, generator)
        return self.model.domain.decode(generator.permutation(codes), generator)

    def table(self) -> pd.DataFrame:
        """Every share and mean with its interval, a line each."""
        lines = []
        for place, found in enumerate(self.questions):
            name = described(found.question)
            if found.shares is not None:
                low, high = self.ends(place)
                labels = [self._label(place, code) for code in range(found.shares.size)]
                rows = zip(labels, found.shares, low, high, strict=True)
                lines += [(name, "share", label, share, down, up, found.people) for label, share, down, up in rows]
            if found.mean is not None:
                width = self.lied(place) * self._range(place)
                mean = found.mean
                lines.append((name, "mean", "", mean.value, mean.low - width, mean.high + width, found.people))
        return pd.DataFrame(lines, columns=["question", "figure", "answer", "estimate", "low", "high", "reports"])

    def certificate(self) -> LocalCertificate:
        return certify_reports(self.plan, self.collected, self.liars)

    def _label(self, place: int, code: int) -> str:
        domain, columns = self.plan.domain, self.plan.questions[place].columns
        codes = np.unravel_index(code, domain.shape(columns))
        return " × ".join(domain[name].label(int(own)) for name, own in zip(columns, codes, strict=True))

    def _range(self, place: int) -> float:
        centers = self.plan.domain[self.plan.questions[place].columns[0]].centers()
        return float(centers[-1] - centers[0])


def estimate_reports(plan: CollectPlan, text: str | Iterable[str], liars: float = 0.0) -> LocalEstimates:
    """Estimates from lines of text as people sent them; what is no report of this plan is left out and counted."""
    return LocalEstimates(read_reports(plan, text), liars)
