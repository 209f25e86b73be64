"""Accuracy of noisy binary search for intervals, unions of intervals and rectangles (B section 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.theory.bound import Theorem, whole


@dataclass(frozen=True, kw_only=True)
class RectanglesBound(Theorem):
    """All axis-aligned rectangles over d columns of b_1, ..., b_d bits; one column: all intervals.

    **Accuracy** n >= M/(epsilon e) ln(M/beta), with pieces of mass (alpha/(4 d))^d, M = (b_1 + ... + b_d)(4 d/alpha)^d
    noisy counts and e = (alpha/2)(alpha/(4 d))^d, the error allowed to each. For d = 1 that is theorem 4.2:
    n >= 32 b/(epsilon alpha^3) ln(4 b/(alpha beta)).

    The paper only remarks that its proof extends; this is the proof column by column. Slabs of mass alpha/(4 d) along
    the first column, each cut into parts of alpha/(4 d) of it along the second, and so on. A rectangle cuts two slabs,
    and two parts of every slab it crosses: at most alpha/(2 d) per column, alpha/2 in all. The pieces inside it are
    each wrong by e: again alpha/2.

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
        return _searched(self.bits, alpha, self.beta, rows, epsilon)


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
        return _searched((self.bits,), alpha / self.pieces, self.beta, rows, epsilon)


def _searched(bits: tuple[int, ...], alpha: float, beta: float, rows: int, epsilon: float) -> bool:
    columns = len(bits)
    log_pieces = columns * math.log(4 * columns / alpha)
    log_counts = math.log(sum(bits)) + log_pieces
    log_error = math.log(alpha / 2) - log_pieces
    tail = math.log(log_counts - math.log(beta))
    return log_counts + tail - log_error <= math.log(rows) + math.log(epsilon)
