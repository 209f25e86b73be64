"""Online perceptron (G algorithm 11 with algorithm 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.errors import Refused
from core.base.options import option
from core.base.wording import amount
from core.mechanisms.kit.answers import NoisyAnswer
from core.mechanisms.online.online import Online
from core.mechanisms.online.start import DENSE_CELLS, signed
from core.mechanisms.online.state import Hypothesis
from core.models.fitting.updates import Perceptron
from core.queries.kit.protocol import Source
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class OnlinePerceptron(Online):
    """Answer from a public table that is shifted evenly whenever a question shows it to be wrong.

    **Privacy** as `online-weights`.

    **Accuracy** as `online-weights` with c = T(alpha/3) = 9 u/alpha^2, where u bounds |X| (|x|_2/|x|_1)^2. No ln|X|:
    better than weights on dense tables, worse on sparse ones.

    **Runtime** as `online-weights`.

    Theorem: G theorems 5.13 to 5.15 with T(alpha) = (|x|_2/|x|_1)^2 |X|/alpha^2 (theorem 5.11).
    """

    name: ClassVar[str] = "online-perceptron"
    title: ClassVar[str] = "Answers that learn: perceptron"
    known_as: ClassVar[tuple[str, ...]] = ("perceptron update", "sparse vector (SVT)")
    prefer: ClassVar[str] = "Choose it when nearly every combination of values occurs about equally often."

    unevenness: float = option(
        "real",
        "Unevenness",
        default=4.0,
        low=1.0,
        help="Public bound for the number of measured answers in the theorem variant: the number of combinations times "
        "the chance that two random rows agree; 1 if all combinations are equally frequent.",
    )

    def _check_universe(self, domain: Domain) -> None:
        if domain.cells() > DENSE_CELLS:
            raise Refused(
                f"The schema has {amount(domain.cells())} combinations and '{self.name}' holds at most "
                f"{amount(DENSE_CELLS)}; choose fewer columns or coarser bins, or use 'online-tree'."
            )

    def _begin(
        self,
        domain: Domain,
        rows: float,
        earlier: Source | None,
        opened: Sequence[NoisyAnswer],
        generator: np.random.Generator,
    ) -> Hypothesis:
        return self._update(domain).start(domain, rows) if earlier is None else signed(domain, rows, earlier)

    def _update(self, domain: Domain) -> Perceptron:
        return Perceptron(alpha=self.alpha / 3 if self.theorem else None, unevenness=self.unevenness)

    def _steps(self, domain: Domain) -> float:
        return self._update(domain).steps(domain, self.alpha / 3)

    def _numbers(self, domain: Domain) -> int:
        return domain.cells()
