"""Vertices drawn in a random order whose padding hides every edge: what both ways to draw it share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.base.bisection import narrowed
from core.base.errors import BadParameter
from core.decisions.covers.vertex_cover import VertexCover
from core.decisions.decision import Decided
from core.kernel.asked import AskedOrder
from core.kernel.decisions.vertex_order import STEPS
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Pure
from core.privacy.unit import Unit
from core.schema.domain import Domain

SEARCHES = 20
"""Halvings in the search for the smallest padding: good to a millionth."""


@dataclass(frozen=True, kw_only=True)
class PaddedOrder(VertexCover):
    """One order by the kernel, and the measured cost."""

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        ordering, estimating = self._events()
        return Cost.of([Pure(ordering), estimating])

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        ordering, estimating = self._events()
        progress("Drawing the order", 0.1)
        order = kernel.order(self._asked(kernel.domain, kernel.unit), Pure(ordering))
        return self._ordered(kernel, order, estimating)

    def _asked(self, domain: Domain, unit: Unit) -> AskedOrder:
        """The order whose loss is at most what it is paid with."""
        raise NotImplementedError


def smallest_padding(enough: Callable[[float], bool], most: int) -> float:
    """The smallest padding that keeps a loss within its limit, of those up to so many steps."""
    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
        if high * STEPS > most:
            raise BadParameter("epsilon", "is too small for an order of so many vertices; use a larger one.")
    return narrowed(enough, low, high, halvings=SEARCHES)[1]
