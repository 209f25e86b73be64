"""Iterative construction with multiplicative weights (G algorithm 8 with theorem 4.10; N): MWEM and its paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.mechanisms.iterative.iterative import Iterative
from core.models.fitting.updates import Update, Weights
from core.schema.domain import Domain
from core.theory.iterative import WeightsBound


@dataclass(frozen=True, kw_only=True)
class IterativeWeights(Iterative):
    """Look for the worst answer of a public histogram, measure it, reweight the histogram, and repeat.

    **Privacy** each of T rounds makes one exponential-mechanism choice and one noisy measurement. With delta = 0 the
    epsilons add up to epsilon (half and half: epsilon/(2T) each); with delta > 0 a choice costs e^2/8 and a measurement
    its rho in zero-concentrated privacy. The number of rows, where private, is measured first.

    **Accuracy** theorem variant, T = 16 ln|X|/alpha^2 rounds: with probability 1 - beta every answer is within
    alpha n, once alpha n >= (8/epsilon_0) max(ln(2T/beta), 2 ln(2T|Q|/beta)). The tuned variant has no such promise
    and is far better at usual sizes: it measures few tables with little noise, and replays them.

    **Runtime** a round costs one pass over the universe per table that is scored, and one per answer that is replayed.

    Theorem: G theorems 5.3 to 5.7 with T(alpha) = 4 ln|X|/alpha^2; replay: Hardt, Ligett and McSherry 2012.
    """

    name: ClassVar[str] = "iterative-weights"
    title: ClassVar[str] = "Multiplicative weights, worst answer first"
    known_as: ClassVar[tuple[str, ...]] = ("MWEM", "multiplicative weights", "iterative construction")
    prefer: ClassVar[str] = (
        "Choose it for many tables over a schema of up to some million combinations, when the budget is tight."
    )
    for_study: ClassVar[bool] = False

    def _update(self, domain: Domain, generator: np.random.Generator) -> Update[Any]:
        return self._rule()

    def _steps(self, domain: Domain) -> float:
        return self._rule().steps(domain, self.accuracy / 2)

    def _update_bound(self, domain: Domain) -> WeightsBound:
        return WeightsBound(log_universe=math.log(max(2, domain.cells())))

    def _rule(self) -> Weights:
        return Weights(alpha=self.accuracy / 2 if self.variant == "theorem" else None)
