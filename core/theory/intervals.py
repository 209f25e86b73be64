"""Accuracy of noisy binary search for intervals, unions of intervals and rectangles (B section 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.theory.bound import Theorem, whole

FEWEST = 4.0
"""A box is halved while its mass is at least this many standard deviations of a search's noise."""


@dataclass(frozen=True, kw_only=True)
class IntervalsBound(Theorem):
    """All intervals on a column of b bits, or all unions of t = `pieces` intervals.

    **Accuracy** n >= 32 b/(epsilon a^3) ln(4 b/(a beta)), a = alpha/t: 4 b/a noisy counts, each with epsilon a/(4 b),
    must be right to within a^2/8, so that pieces of mass a/4 give every interval to within a. The paper's last display
    misplaces a bracket; this solves the line above it. The paper does not say how a piece that is searched with noise
    a^2/8 comes out right to within a^2/8, nor what a single heavy value does; the mechanism `interval-search` has a
    proof that does, for about four times the rows.

    Theorem: B theorem 4.2 (epsilon_1 = a/2, epsilon_2 = a^2/8) and the remark at the end of section 4.
    """

    theorem: ClassVar[str] = "B theorem 4.2"

    bits: int
    pieces: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("bits", self.bits)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        accuracy = alpha / self.pieces
        log_counts = math.log(self.bits) + math.log(4 / accuracy)
        tail = math.log(log_counts - math.log(self.beta))
        return log_counts + tail + math.log(8) - 2 * math.log(accuracy) <= math.log(rows) + math.log(epsilon)


@dataclass(frozen=True, kw_only=True)
class RectanglesBound(Theorem):
    """All axis-aligned rectangles over d columns of b_1, ..., b_d bits, by `rectangle-search`: every box is halved near
    its median, k times along each column, and the boxes at the end are counted once more.

    **Accuracy** n >= (2/alpha)(rows in cut boxes that noise causes + noise of the final counts), see `log_box_rows`,
    with k = ln(4 d/alpha)/ln(16/9) rounded up. Half of epsilon is for the k (b_1 + ... + b_d) rounds of searching, half
    for the last counts. All boxes of a round are disjoint, so that a round is one table, in which a replaced row
    changes two counts: noise of scale 4 k (b_1 + ... + b_d)/epsilon, and 4/epsilon at the end. Each half of beta
    pays for one of the two: noise stays below scale ln(2 counts/(beta/2)).

    B remarks only that its proof for intervals extends; this is a proof of the algorithm that runs.

    Theorem: B theorem 4.2 and the remark before definition 4.1.
    """

    theorem: ClassVar[str] = "B theorem 4.2 and its extension to rectangles"

    bits: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bits:
            raise BadParameter("bits", "must name the bits of at least one column.")
        for bits in self.bits:
            whole("bits", bits)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_sizes, splits = [bits * math.log(2) for bits in self.bits], splits_for(alpha, len(self.bits))
        rounds, log_boxes = splits * sum(self.bits), sum(log_parts(log_sizes, splits))
        log_miss = math.log(4 / self.beta) + log_boxes
        needed = log_box_rows(
            alpha,
            log_sizes,
            search=4 * rounds / epsilon * (log_miss + math.log(rounds)),
            least=FEWEST * math.sqrt(2) * 4 * rounds / epsilon,
            final=4 / epsilon * log_miss,
        )
        return needed <= math.log(rows)


def splits_for(accuracy: float, columns: int) -> int:
    """k: so often is every column halved that its 2 d sides cut through half of the accuracy at most."""
    return math.ceil(math.log(4 * columns / accuracy) / math.log(16 / 9))


def log_parts(log_sizes: Sequence[float], splits: int) -> list[float]:
    """Logarithm of the most parts along each column: two halves and a heavy slice, which is not cut again, each time;
    never more than there are cells."""
    return [min(log_size, math.log(2 ** (splits + 1) - 1)) for log_size in log_sizes]


def log_box_rows(
    accuracy: float, log_sizes: Sequence[float], *, search: float, least: float, final: float, total: float = 0.0
) -> float:
    """Logarithm of the rows from which on no rectangle of `rectangle-search` errs by more than the accuracy.

    All in rows: the noise of a search's counts is at most s = `search`, that of the final counts f = `final`, that of
    the number of rows t = `total`; boxes with a mass below l = `least` are not searched. n is the number of rows.

    1. *The mass of a box* is known to within e = t + (k d + 1) s. The first is known to within t; of the parts of a box
       one has a measured mass, one the difference of two measured ones, one what is left of the box's own: each halving
       adds s at most.
    2. *A halving.* A box of c rows and mass m is cut where a noisy count is within m/16 of m/2, or on both sides of a
       single cell. So a part that a side can cut through holds at most 9/16 m + s, or c - 7/16 m + s: at most 9/16 c +
       w, w = e + s. A box that is not searched is a single cell wide, so that no side cuts through it, or has c <= l +
       e, which is at most 9/16 c + w too with w >= 7/16 (l + e).
    3. *One side* of a rectangle, along one column, cuts through one part at most of each box that is halved along that
       column, and through C boxes at most: those that the other columns can have. So after each of k halvings it cuts
       through boxes of 9/16 of the rows before, and C w: at the end (9/16)^k n + 16/7 C w.
    4. *The last counts* are moved by one number, as far as none is negative, to sum to the number of rows. It is at
       most f + t in size, so each of at most B boxes is known to within 2 f + t.
    5. A rectangle with 2 d sides: B (2 f + t) for all boxes, and what its sides cut through, of which any part may be
       inside: 2 d (9/16)^k n, which is at most accuracy/2 n, and 2 (16/7) w (C of each column).
    """
    columns, splits = len(log_sizes), splits_for(accuracy, len(log_sizes))
    parts = log_parts(log_sizes, splits)
    log_boxes, wrong = sum(parts), total + (splits * columns + 1) * search
    shift = max(wrong + search, 7 / 16 * (least + wrong))
    sides = sum(math.exp(-each) for each in parts)
    return log_boxes + math.log(32 / 7 * shift * sides + 2 * final + total) + math.log(2 / accuracy)
