"""Online multiplicative weights (G algorithm 11 with theorem 4.10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.mechanisms.kit.answers import NoisyAnswer
from core.mechanisms.online.online import Online
from core.mechanisms.online.start import DENSE_CELLS, SUPPORT, weighted
from core.mechanisms.online.state import Hypothesis
from core.models.fitting.updates import Update, Weights
from core.queries.kit.protocol import Source
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class OnlineWeights(Online):
    """Answer from a public table that is reweighted whenever a question shows it to be wrong.

    **Privacy** the private table is touched only by sparse vector (proof in `sparse_vector.py`), by c fresh noisy
    numbers, and by the opening: the number of rows, where private, and one-column tables. With delta = 0 the epsilons
    add up; with delta > 0 they compose at the account's order. Whatever is asked, the cost is that of all c answers.

    **Accuracy** theorem variant, c = T(alpha/3) = 36 ln|X|/alpha^2: with probability 1 - beta all of k answers are
    within alpha n, once alpha n/3 >= 9 c (ln(2k) + ln(4c/beta))/epsilon, or with delta > 0
    (sqrt(512) + 1) sqrt(c ln(2/delta)) (ln(2k) + ln(4c/beta))/epsilon. Calibrated variant: c is the largest number for
    which an easy answer is within alpha n, 95 % of the time; a hard one has the noise of its measurement.

    **Runtime** an easy answer one table of the private rows and one of the hypothesis; a hard one some passes over the
    hypothesis more: as many as some milliseconds allow up to 10^5 cells, and some tens at 10^6.

    Theorem: G theorems 5.13 to 5.15 with T(alpha) = 4 ln|X|/alpha^2; replay: Hardt, Ligett and McSherry 2012.
    """

    name: ClassVar[str] = "online-weights"
    title: ClassVar[str] = "Answers that learn: multiplicative weights"
    known_as: ClassVar[tuple[str, ...]] = ("PMW", "private multiplicative weights", "sparse vector (SVT)")
    prefer: ClassVar[str] = (
        "Choose it to start from nothing but single columns, or to refine an earlier release; 'online-tree' answers "
        "better on a large schema, and a noisy histogram on a small one."
    )

    def _begin(
        self,
        domain: Domain,
        rows: float,
        earlier: Source | None,
        opened: Sequence[NoisyAnswer],
        generator: np.random.Generator,
    ) -> Hypothesis:
        return weighted(domain, rows, earlier, opened, generator)

    def _update(self, domain: Domain) -> Update[Any]:
        return Weights(alpha=self.alpha / 3 if self.theorem else None)

    def _steps(self, domain: Domain) -> float:
        return self._update(domain).steps(domain, self.alpha / 3)

    def _numbers(self, domain: Domain) -> int:
        return cells if (cells := domain.cells()) <= DENSE_CELLS else SUPPORT

    def _pass_seconds(self, domain: Domain) -> float:
        # Looking up the factor of a record takes as long as four neighbouring cells.
        return super()._pass_seconds(domain) if domain.cells() <= DENSE_CELLS else 1e-4 + 1.6e-8 * SUPPORT
