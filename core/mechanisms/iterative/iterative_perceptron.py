"""Iterative construction with the perceptron (G algorithms 8 and 10)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.base.options import option
from core.mechanisms.iterative.iterative import Iterative
from core.models.fitting.updates import Perceptron, Update
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.iterative import PerceptronBound


@dataclass(frozen=True, kw_only=True)
class IterativePerceptron(Iterative):
    """Look for the worst answer of a public table, measure it, shift the table evenly, and repeat.

    **Privacy** as `iterative-weights`: T choices and T measurements.

    **Accuracy** theorem variant, T = 4 u/alpha^2 rounds, where u bounds |X| (|x|_2/|x|_1)^2: with probability 1 - beta
    every answer is within alpha n, once alpha n >= (8/epsilon_0) max(ln(2T/beta), 2 ln(2T|Q|/beta)) and the bound u
    holds. No ln|X|: better than weights on dense tables, worse on sparse ones. Answers may be negative; records come
    from the nearest table without negative counts.

    **Runtime** as `iterative-weights`.

    Theorem: G theorems 5.11 and 5.12 with T(alpha) = (|x|_2/|x|_1)^2 |X|/alpha^2.
    """

    name: ClassVar[str] = "iterative-perceptron"
    title: ClassVar[str] = "Perceptron, worst answer first"
    known_as: ClassVar[tuple[str, ...]] = ("perceptron update", "iterative construction")
    prefer: ClassVar[str] = "Choose it when nearly every combination of values occurs about equally often."
    for_study: ClassVar[bool] = True

    unevenness: float = option(
        "real",
        "Unevenness",
        default=4.0,
        low=1.0,
        help="Public bound for the number of rounds in the theorem variant: the number of combinations times the "
        "chance that two random rows agree; 1 if all combinations are equally frequent.",
    )

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured: twice what is counted for weights."""
        return 2 * super().seconds(domain, unit)

    def _update(self, domain: Domain, generator: np.random.Generator) -> Update[Any]:
        return self._rule()

    def _steps(self, domain: Domain) -> float:
        return self._rule().steps(domain, self.accuracy / 2)

    def _update_bound(self, domain: Domain) -> PerceptronBound:
        return PerceptronBound(log_universe=math.log(max(2, domain.cells())), unevenness=self.unevenness)

    def _rule(self) -> Perceptron:
        return Perceptron(alpha=self.accuracy / 2 if self.variant == "theorem" else None, unevenness=self.unevenness)
