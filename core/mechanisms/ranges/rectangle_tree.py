"""A quad tree of noisy counts over two or three columns: the best choice for rectangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from core.base.arrays import Floats
from core.base.errors import Refused
from core.base.options import option
from core.mechanisms.ranges.levels import Levels
from core.models.fitting.pyramid import Estimate, nonnegative, sparse
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

MOST_COLUMNS = 3
"""A rectangle in more columns is cut by most blocks of any tree; tables answer it better."""


@dataclass(frozen=True, kw_only=True)
class RectangleTree(Levels):
    """Find the boxes in which rows crowd, count them with noise, and split counts among parts without negatives.

    The search begins with 4 x 4 boxes and halves along all columns. What it leaves is counted, and so are the 8 x 8
    boxes after one step. Where rows lie in single lines or cells, which is asked first, it begins with smaller boxes;
    where they lie in single cells all over the table, and noise is pure, every cell is counted instead
    (`box_search.py`). Up to 1,024 cells nothing is searched: the blocks of a 4 x 4 quad tree down to every cell are
    counted, with 8 x 8 at the top.

    **Privacy** as for 'interval-tree': the search gets 0.3 of epsilon and tells boxes only (`Crowding`); what is asked
    first is one number that a row moves by at most 1 (`Unevenness`), and gets at most a hundredth of the rest, as much
    as a private number of rows; a row falls into one box of each level, so each level has L1 sensitivity unit.l1
    and squared L2 sensitivity unit.l2_squared; all shares add up to the budget.

    **Accuracy** a rectangle cuts the boxes along its faces: each has noise of order unit.l1/epsilon, and as many rows
    on the wrong side as it holds, O(log N) unit.l1/epsilon with high probability. Empty regions have few boxes and
    hold almost no error at all. Where every cell is counted, a rectangle in d columns of side N cuts about 2 d N^(d-1)
    cells, each with noise of order levels x unit.l1/epsilon, before negative counts are removed.

    **Runtime** O(cells) after one count of the table.

    Theorem: PrivTree (Zhang, Xiao and Xie 2016) for the boxes; least squares over a tree (Hay, Rastogi, Miklau and
    Suciu 2010); parallel composition within a level.
    """

    name: ClassVar[str] = "rectangle-tree"
    title: ClassVar[str] = "Quad tree of noisy counts for rectangles"
    known_as: ClassVar[tuple[str, ...]] = ("quad tree",)
    prefer: ClassVar[str] = "Choose it for rectangles in two or three columns, beyond about 64 x 64 cells."
    for_study: ClassVar[bool] = False
    about: ClassVar[str] = "The count of a random rectangle"

    branching: int = option(
        "whole", "Branching", default=4, low=2, high=1024, help="Most parts of a block along each column."
    )

    def admit(self, query: QueryClass, domain: Domain) -> None:
        if query.name not in ("rectangles", "intervals", "unions"):
            raise Refused(f"'rectangle-tree' serves ranges and rectangles, not '{query.name}'; use 'tree' for tables.")
        widest = max(len(columns) for columns in query.tables(domain))
        if widest > MOST_COLUMNS:
            raise Refused(
                f"A rectangle over {widest} columns is too thin for 'rectangle-tree'; choose at most {MOST_COLUMNS} "
                "columns, or use 'tree'."
            )

    def top(self, unit: Unit) -> int:
        """Twice the parts of other blocks: on two public 256 x 256 tables 8 x 4 x 3 x 3 errs 10 % less than 4's."""
        return 2 * self.branching

    def settle(self, estimate: Estimate[Any], total: float) -> Floats:
        return nonnegative(estimate, total)

    def settle_found(self, estimate: Estimate[Any], total: float) -> Floats:
        """The measured coarse boxes as a prior says that knows of empty ones.

        On two public tables and four generated ones of 256 x 256 cells this erred 8 % less than the nearest counts
        without negatives, and a quarter less where nearly all rows lie in one corner; of the other levels the one above
        gained half as much, and the one below lost a fifth.
        """
        return sparse(estimate, total)
