"""Noisy counts of nested parts: what the interval tree and the rectangle tree share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Floats
from core.base.errors import Refused
from core.base.options import option
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.mechanisms.kit.portions import wanted
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import counting
from core.mechanisms.kit.settings import settle
from core.mechanisms.ranges.box_search import find_boxes
from core.mechanisms.ranges.nested import DECAY, NestedBlocks, NestedBoxes, parts_of
from core.mechanisms.ranges.range_errors import cut_parts, range_errors
from core.mechanisms.ranges.stages import Stage, divide_stages, find_stretches, price_of
from core.mechanisms.ranges.stretches import stretch_blocks
from core.models.fitting.pyramid import Estimate, pyramid
from core.models.histogram import MOST_CELLS
from core.models.range_tables import Ranges, ranges
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Find where rows crowd, count blocks of what was found with noise, make levels agree, remove negative counts."""

    name: ClassVar[str]
    about: ClassVar[str]
    """What the expected errors speak of."""
    decay: ClassVar[float] = DECAY
    """What each level gets of the level above it, in epsilon."""

    queries: tuple[QueryClass, ...]
    budget: Budget
    branching: int = option(
        "whole", "Branching", default=16, low=2, high=1024, help="Most parts of a block along each column."
    )

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            self.admit(query, domain)
        cells = sum(domain.cells(columns) for columns in wanted(self.queries, domain))
        if cells > MOST_CELLS:
            raise Refused(
                f"These query classes cover {amount(cells)} cells and '{self.name}' holds at most "
                f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins."
            )

    def admit(self, query: QueryClass, domain: Domain) -> None:
        """Refuse a class that this tree cannot serve, naming what can."""
        raise NotImplementedError

    def top(self, unit: Unit) -> int:
        """How many parts the whole has along each column, unless more of them save a level."""
        raise NotImplementedError

    def settle(self, estimate: Estimate[Any], total: float) -> Floats:
        """Cells without a negative one, with this total."""
        raise NotImplementedError

    def settle_found(self, estimate: Estimate[Any], total: float) -> Floats:
        """The same where stretches or boxes were found first."""
        raise NotImplementedError

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return price_of(self._stages(domain, unit))

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """Errors where rows crowd in all cells; a range of the worst kind also cuts parts that were left whole."""
        errors, hidden = [], []
        for stage in self._stages(domain, unit):
            errors.append(range_errors(self._blocks(stage, domain, unit), unit))
            cut = cut_parts(domain.shape(stage.columns))
            hidden.append(cut * stage.most_hidden(domain, unit))
        return Expected(
            mean=sum(mean for mean, _ in errors) / len(errors),
            worst=max(worst + left for (_, worst), left in zip(errors, hidden, strict=True)),
            about=self.about,
        )

    def seconds(self, domain: Domain, unit: Unit) -> float:
        return counting(wanted(self.queries, domain), domain)

    def run(self, kernel: Kernel, progress: Progress = silent) -> Ranges:
        self.check(kernel.domain, kernel.unit)
        stages = self._stages(kernel.domain, kernel.unit)
        nested, estimates = {}, {}
        for done, stage in enumerate(stages):
            progress("Counting blocks", 0.6 * done / len(stages))
            nested[stage.columns] = self._find(kernel, stage)
            estimates[stage.columns] = nested[stage.columns].measure(kernel)
        progress("Removing negative counts", 0.6)
        total = _total(list(estimates.values()), kernel.public_rows)
        settled = {
            stage.columns: nested[stage.columns].spread(
                (self.settle_found if stage.finding else self.settle)(estimates[stage.columns], total)
            )
            for stage in stages
        }
        progress("Drawing records", 0.9)
        return ranges(kernel.domain, settled, total, kernel.generator())

    def _stages(self, domain: Domain, unit: Unit) -> list[Stage]:
        divided = divide_stages(wanted(self.queries, domain), self.budget, domain)
        return [
            each if each.finding else replace(each, found=self._blocks(each, domain, unit).events) for each in divided
        ]

    def _blocks(self, stage: Stage, domain: Domain, unit: Unit) -> NestedBlocks:
        """Blocks down to every cell."""
        if stage.finding and len(stage.columns) == 1:
            (size,) = domain.shape(stage.columns)
            return stretch_blocks(stage.columns, np.arange(size), size, stage.counting, self.branching)
        blocks = pyramid(domain.shape(stage.columns), self.branching, self.top(unit))
        return NestedBlocks(stage.columns, blocks, parts_of(stage.counting, self.decay, blocks.levels))

    def _find(self, kernel: Kernel, stage: Stage) -> NestedBlocks | NestedBoxes:
        if stage.finding is None:
            return self._blocks(stage, kernel.domain, kernel.unit)
        if len(stage.columns) == 1:
            return find_stretches(kernel, stage, self.branching)
        return find_boxes(kernel, stage)


def _total(estimates: Sequence[Estimate[Any]], public: int | None) -> float:
    """The number of rows: the public one, else the top levels' sums weighted by inverse variance."""
    if public is not None:
        return float(public)
    weights = [1 / estimate.variances[0].sum() for estimate in estimates]
    sums = [estimate.values[0].sum() for estimate in estimates]
    return max(float(np.dot(weights, sums)) / sum(weights), 0.0)
