"""The median mechanism in polynomial time: a random walk over fractional histograms (T 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.errors import Refused
from core.base.options import option
from core.base.wording import amount
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.median.session import MOST_HARD, MedianSession
from core.mechanisms.median.state import MedianState, PossibleTables
from core.models.polytope.cloud import Cloud, sweeps
from core.models.polytope.mixing import Mixing
from core.queries.kit.protocol import Source
from core.schema.domain import Domain
from core.theory.median import MedianBound
from core.theory.median import MedianWalkBound as Theorem

MOST_CELLS = 4_096


@dataclass(frozen=True, kw_only=True)
class MedianWalk(MedianSession):
    """Answer by the median of sampled histograms that fit all measured answers; measure where they disagree.

    **Privacy** does not depend on the walk. The polytope is cut by released answers only and the walk uses public
    randomness, so its points are post-processing: whatever they are, the one private step is the test of a question
    given these points, whose loss has a sensitivity of unit.limit rows for *every* set of points (`loss.py`).
    calibrated: sparse vector over that loss, and fresh noise for hard answers. thesis: 2 k e' by basic composition.
    T says the same ('independent of the representation of the sets'); a walk that has not mixed costs accuracy only.

    **Accuracy** as `median-basic` without a net's coarseness, if the points are spread over the polytope as uniform
    ones. `mixing` shows split R-hat and effective size of the last walk, which can disprove that but not prove it. T
    promises enough hard answers for all but a vanishing share of all distributions; others run out of them.

    Uniform histograms over |X| cells differ by about 1/sqrt(|X|) on a question that half of the records fulfil; where
    that is not well below alpha, questions stay hard until most directions are measured.

    **Runtime** an easy answer O(chains x cells); a hard one a linear program, Newton's method for the centre of the
    polytope and up to 128 sweeps of the walk, together one to two seconds.

    Theorem: T theorems 22 and 23, lemmas 9 to 13.
    """

    name: ClassVar[str] = "median-walk"
    title: ClassVar[str] = "Median of sampled histograms that fit all answers"
    known_as: ClassVar[tuple[str, ...]] = ("median mechanism", "sparse vector (SVT)", "hit-and-run")
    refines: ClassVar[bool] = False
    prefer: ClassVar[str] = "Choose it to study the median mechanism without a net; 'online-tree' answers better."

    chains: int = option(
        "whole", "Chains", default=128, low=16, high=1_024, help="Histograms that walk at the same time and answer."
    )

    _bound: ClassVar[type[MedianBound]] = Theorem

    def mixing(self, state: MedianState) -> Mixing:
        """How well the last walk mixed; public."""
        assert isinstance(state.hypothesis, Cloud)
        return state.hypothesis.mixing

    def slot(self, domain: Domain) -> float:
        """Measured: a linear program and a centre, then the longest of all walks, with half as much to spare."""
        cells = domain.cells() + 1
        return (
            TABLE
            + 0.3
            + 2e-4 * cells
            + 1.5
            * max(
                4e-9 * sweeps(cells, self.chains, slabs) * self.chains * (cells + 600) * (slabs + 20)
                for slabs in range(1, MOST_HARD + 1)
            )
        )

    def _check_universe(self, domain: Domain) -> None:
        if domain.cells() > MOST_CELLS:
            raise Refused(
                f"The schema has {amount(domain.cells())} combinations and '{self.name}' walks over at most "
                f"{amount(MOST_CELLS)}; use '{self.other}'."
            )

    def _begin(
        self, domain: Domain, rows: float, earlier: Source | None, generator: np.random.Generator
    ) -> PossibleTables:
        return Cloud.start(domain, rows, self.chains, generator, spare=self.constants == "thesis")

    def _coarseness(self, domain: Domain) -> float:
        return 0.0
