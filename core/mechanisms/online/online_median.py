"""Online median of a net (G algorithm 11 with algorithm 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from core.base.errors import Refused
from core.base.options import fixed
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.kernel.query import Statistic
from core.mechanisms.kit.answers import NoisyAnswer
from core.mechanisms.kit.interactive import Reply
from core.mechanisms.kit.settings import database_rows_option, random_databases_option
from core.mechanisms.online.online import Online
from core.mechanisms.online.start import database_rows
from core.mechanisms.online.state import Hypothesis, OnlineState
from core.models.fitting.updates import Update
from core.models.nets.median import Halving, MedianSet
from core.models.nets.public_net import USUAL_ROWS, everything, multisets, random_net, rows_for
from core.queries.kit.protocol import Source
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain

MOST_MEMBERS = 100_000
"""Databases in a net."""


@dataclass(frozen=True, kw_only=True)
class OnlineMedian(Online):
    """Answer by the median of a public set of databases, and throw away the wrong half when a question is hard.

    **Privacy** as `online-weights`. The net is public: made without the data, or from an earlier release.

    **Accuracy** as `online-weights` with c = log2 |net|, over all databases of m > 9 ln(2k)/(2 alpha^2) rows in the
    theorem variant, which are an alpha/3-net for k questions. A random net is as good as its nearest member.

    Statistics that are not linear are answered too (`answer_statistic`), with the same privacy: one row moves them by
    at most 1. All databases of m rows need not be a net for them; where none of the net's members is near, a session
    runs out of hard answers and says so.

    **Runtime** O(members x rows) per answer.

    Theorem: G theorems 5.13 to 5.15 with T(alpha) = log2 |net| (theorem 5.8); theorem 5.10 for statistics.
    """

    name: ClassVar[str] = "online-median"
    title: ClassVar[str] = "Answers that learn: median of possible databases"
    known_as: ClassVar[tuple[str, ...]] = ("median update", "sparse vector (SVT)")
    prefer: ClassVar[str] = "Choose it to study the median update on a small schema, or to refine an earlier release."

    replay: int = fixed("always 0: what was thrown away stays away", 0)
    opening: float = fixed("always 0: a set of databases learns from single questions", 0.0)
    size: int = database_rows_option("0 takes 64, and in the theorem variant what the target error needs.", most=10_000)
    members: int = random_databases_option(
        1_000,
        most=MOST_MEMBERS,
        help="Size of the random net; the theorem variant takes all databases of that many rows.",
    )

    _tables: ClassVar[bool] = False

    def answer_statistic(self, state: OnlineState, asked: Statistic, kernel: Kernel) -> tuple[OnlineState, Reply]:
        """As any question: neither a comparison nor halving a set of databases needs sums over the rows (G 5.10)."""
        if not isinstance(asked.query, Lipschitz):
            raise Refused("Of questions that are not sums over the rows only those of the class 'lipschitz' are asked.")
        asked.query.check(kernel.domain)
        after, reply = self._answered(state, asked, kernel)
        # What was thrown away stays away: nothing is replayed, so that a statistic need not be kept.
        return (after if after is state else replace(after, past=state.past)), reply

    def _check_universe(self, domain: Domain) -> None:
        if domain.cells() >= 2**62:
            raise Refused(
                f"The schema has {amount(domain.cells())} combinations and a net numbers at most 2^62 of them; use "
                "'online-weights'."
            )
        if (count := self._count(domain)) > MOST_MEMBERS:
            raise Refused(
                f"The net has {amount(count)} databases of {amount(self._size(domain))} rows and '{self.name}' holds "
                f"at most {amount(MOST_MEMBERS)}; use a larger alpha, a smaller size, the calibrated variant or "
                "'online-weights'."
            )

    def _begin(
        self,
        domain: Domain,
        rows: float,
        earlier: Source | None,
        opened: Sequence[NoisyAnswer],
        generator: np.random.Generator,
    ) -> Hypothesis:
        size = self._size(domain)
        if self.theorem:
            net = everything(domain.cells(), size)
        elif earlier is None:
            net = random_net(domain.cells(), self.members, size, generator)
        else:
            net = database_rows(domain, earlier, self.members, size, generator)
        return MedianSet(domain, net, rows, ())

    def _update(self, domain: Domain) -> Update[Any]:
        return Halving((), np.zeros((1, 1), dtype=np.int64))

    def _steps(self, domain: Domain) -> float:
        return math.log2(self._count(domain))

    def _numbers(self, domain: Domain) -> int:
        return self._count(domain) * self._size(domain)

    def _size(self, domain: Domain) -> int:
        if self.size or not self.theorem:
            return self.size or USUAL_ROWS
        return rows_for(self.alpha / 3, math.log(self.questions))

    def _count(self, domain: Domain) -> int:
        return multisets(domain.cells(), self._size(domain)) if self.theorem else self.members
