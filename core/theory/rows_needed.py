"""What a dimension implies: the rows with which small synthetic tables promise an accuracy, by each theorem.

A class enters by its number of questions, by its VC dimension or by its fat-shattering dimension. Where only bounds of
a dimension are known the upper one is taken, so that the promise holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.queries.kit.protocol import Dimension
from core.theory.release import NetBound
from core.theory.smalldb import SmallDbBound, SmallDbFatBound, SmallDbVcBound, hoeffding


@dataclass(frozen=True, kw_only=True)
class RowsNeeded:
    """Rows by four theorems; None where a theorem needs a finite class and this one is not."""

    smalldb: int | None
    """SmallDB by the number of questions (N)."""
    net: int | None
    """The net of all tables of so many rows that Hoeffding's inequality holds for half the error (G 5.2)."""
    vc: int
    """SmallDB by the VC dimension (B 3.1)."""
    fat: int
    """SmallDB by the fat-shattering dimension at the theorem's scale (F 5), with published constants."""

    @property
    def fewest(self) -> int:
        return min(rows for rows in (self.smalldb, self.net, self.vc, self.fat) if rows is not None)


def rows_needed(
    *, log_universe: float, log_queries: float, vc: Dimension, alpha: float, epsilon: float, beta: float = 0.05
) -> RowsNeeded:
    """Rows for predicates, whose fat-shattering dimension is at most their VC dimension at every scale."""
    by_size, net = None, None
    if math.isfinite(log_queries):
        by_size = SmallDbBound(log_universe=log_universe, log_queries=log_queries, beta=beta)
        tables = hoeffding(log_queries, alpha / 2) * log_universe
        net = NetBound(log_net=tables, net_alpha=alpha / 2, beta=beta)
    by_vc = SmallDbVcBound(log_universe=log_universe, vc=int(vc.high), beta=beta)
    by_fat = SmallDbFatBound(log_universe=log_universe, fat=vc.high, beta=beta)
    return RowsNeeded(
        smalldb=by_size.rows(alpha, epsilon) if by_size else None,
        net=net.rows(alpha, epsilon) if net else None,
        vc=by_vc.rows(alpha, epsilon),
        fat=by_fat.rows(alpha, epsilon),
    )
