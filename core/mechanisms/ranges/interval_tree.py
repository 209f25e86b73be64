"""A tree of noisy counts over one column: the best choice for ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from core.base.arrays import Floats
from core.base.errors import Refused
from core.mechanisms.ranges.levels import Levels
from core.models.fitting.pyramid import Estimate, rising, sparse
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class IntervalTree(Levels):
    """Find the stretches of a column in which rows crowd, and count the blocks of a tree over them with noise.

    Empty runs, and pieces that hold little, are one stretch each; crowded cells are stretches of their own. The whole
    has 24 blocks, and each block up to 16 parts (`stretches.py`). Up to 256 cells nothing is searched and every cell
    is one.

    **Privacy** the search gets 0.16 of epsilon (a tenth of rho where noise is Gaussian) and tells stretches only
    (`Crowding`). A row falls into one block of each level of the tree over them, so a level has L1 sensitivity unit.l1
    and squared L2 sensitivity unit.l2_squared. Each level gets a share of the rest that follows from where stretches
    begin (up to 256 cells: one that falls by 0.85 per level, in epsilon): discrete Laplace noise with delta = 0,
    rounded Gaussian noise otherwise; the shares of all levels and columns add up to the budget. The root is not
    counted: the top level adds up to the number of rows.

    **Accuracy** with N cells, h = log N/log 16 levels and Laplace noise, a range is a sum of at most 30 h + 24 blocks
    with noise h unit.l1/epsilon each: an error of O(log^1.5 N) unit.l1/epsilon, whatever the data, before the levels
    are made to agree. Where rows crowd in m stretches, h is log m/log 16, and a range that ends inside a stretch is off
    by at most the rows in it: O(log N) unit.l1/epsilon with high probability. On real columns a prior that knows of
    empty blocks and the removal of negative counts take up to half of the mean error away, and more where all rows
    lie in one place.

    **Runtime** O(N) after one count of the column.

    Theorem: PrivTree (Zhang, Xiao and Xie 2016) for the stretches; least squares over a tree (Hay, Rastogi, Miklau and
    Suciu 2010); parallel composition within a level.
    """

    name: ClassVar[str] = "interval-tree"
    title: ClassVar[str] = "Tree of noisy counts for ranges of one column"
    known_as: ClassVar[tuple[str, ...]] = ("hierarchical histogram", "range tree")
    prefer: ClassVar[str] = "Choose it for ranges and unions of ranges: far more accurate than 'interval-search'."
    for_study: ClassVar[bool] = False
    about: ClassVar[str] = "The count of a random range"
    decay: ClassVar[float] = 0.85

    def admit(self, query: QueryClass, domain: Domain) -> None:
        if any(len(columns) != 1 for columns in query.tables(domain)):
            raise Refused(
                f"'interval-tree' serves questions about one column at a time, and '{query.name}' asks about several "
                "together; use 'rectangle-tree' for rectangles, and 'tree' for tables."
            )

    def top(self, unit: Unit) -> int:
        """The widest top level where the number of rows is public; half of that where blocks must add up to it too.

        Measured on four public histograms of 1,024 cells: the narrow top gains 8 % with private rows, the wide one 4 %
        with public ones.
        """
        return self.branching if unit.public_rows else max(2, self.branching // 2)

    def settle(self, estimate: Estimate[Any], total: float) -> Floats:
        """Running sums that never fall for the top blocks, the nearest counts without negatives inside them.

        On four public histograms (two domains, two numbers of rows, two epsilons) this errs 1.5 % less on average than
        regression at every level and 6 % less where that is worst; without regression at the top, sparse columns lose
        a quarter.
        """
        return rising(estimate, total)

    def settle_found(self, estimate: Estimate[Any], total: float) -> Floats:
        """Top blocks as a prior says that knows of empty ones, the nearest counts without negatives inside them.

        On nine kinds of generated columns and four public histograms this errs up to 11 % less than regression at
        the top, and half as much where all rows lie in one place.
        """
        return sparse(estimate, total)
