"""Accuracy of halfspace counts through random projections (B section 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.theory.bound import Theorem, whole


@dataclass(frozen=True, kw_only=True)
class HalfspacesBound(Theorem):
    """All b-bit halfspaces in d dimensions, where points within the margin may be counted either way.

    **Accuracy** half of alpha and of beta for the projections, half for the noise:

    - k >= 4 ln(16/alpha)/(g^2 - g^3) dimensions to project to, g = margin/16 (Johnson and Lindenstrauss);
    - m >= 12 (ln(2/beta) + b d ln 2) projections, of which the median is taken;
    - a net of at most (1 + 8/(3 margin))^k halfspaces in each: unit vectors within 3/4 margin of each other, by volume;
    - n >= 2 M/(epsilon alpha) ln(2 M/beta) rows for M = m |net| noisy counts, each with epsilon/M.

    The paper writes O(1/margin)^(k-1) for the net and adds, in its solution for n, what its union bound multiplies. The
    theorem is polynomial for a fixed margin only: these are the largest numbers of all the bounds here.

    k is in the thousands, so points of a few columns gain nothing from a projection. With `project` off one net in
    their own d dimensions serves: k = d, m = 1, all of alpha and beta for the noise, n >= M/(epsilon alpha) ln(M/beta).

    Theorem: B theorem 6.5, usefulness definition 5.3.
    """

    theorem: ClassVar[str] = "B theorem 6.5"

    dimensions: int
    bits: int
    margin: float
    project: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("bits", self.bits)
        if not 0 < self.margin < 1:
            raise BadParameter("margin", "must be above 0 and below 1: a distance in the unit ball; try 0.5.")

    def projected(self, alpha: float) -> int:
        """k, the dimensions of the nets."""
        if not self.project:
            return self.dimensions
        g = self.margin / 16
        return math.ceil(4 * math.log(16 / alpha) / (g**2 - g**3))

    def projections(self) -> int:
        """m, the number of independent projections."""
        if not self.project:
            return 1
        return math.ceil(12 * (math.log(2 / self.beta) + math.log(2) * self.bits * self.dimensions))

    def log_net(self, alpha: float) -> float:
        """Natural logarithm of the number of canonical halfspaces in one projection."""
        return self.projected(alpha) * math.log1p(8 / (3 * self.margin))

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_counts = math.log(self.projections()) + self.log_net(alpha)
        part = 2 if self.project else 1
        tail = math.log(log_counts + math.log(part / self.beta))
        return math.log(part / alpha) + log_counts + tail <= math.log(rows) + math.log(epsilon)
