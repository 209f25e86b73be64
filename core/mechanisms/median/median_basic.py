"""The median mechanism over an explicit net (T 4.2, figure 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.errors import BadParameter, Refused
from core.base.wording import amount
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.settings import database_rows_option, net_option, random_databases_option
from core.mechanisms.median.session import MedianSession
from core.mechanisms.median.state import PossibleTables
from core.mechanisms.online.start import database_rows
from core.models.databases import Databases, all_of, listed
from core.models.nets.public_net import USUAL_ROWS, multisets, random_net
from core.queries.kit.protocol import Source
from core.schema.domain import Domain

MOST_MEMBERS = 2**18
"""Databases in a net; the thesis's constants fit with two possible records and a target error from about 0.5 on."""
MOST_ENTRIES = 2**22
"""Different records of all databases together: some 20 ms for each answer."""
MOST_CELLS = 2**16
LEAST_ROWS = 16
"""Rows without which all databases are no better than random ones of more rows."""
FEWEST = 8
"""Databases that stay in any case, with calibrated constants."""


@dataclass(frozen=True, kw_only=True)
class MedianBasic(MedianSession):
    """Answer by the median of all databases that earlier measured answers leave possible; measure where they disagree.

    **Privacy** calibrated: sparse vector over the loss of the set of possible databases, whose sensitivity is
    unit.limit rows whatever the set is, and fresh noise for hard answers (`loss.py`, `sparse_vector.py`); with
    delta > 0 each hard answer ends a run of its own. thesis: 2 k e' by basic composition over the k planned
    questions, e' = epsilon/(720 m ln|X|). The net is public: made without the data, or from an earlier release.

    **Accuracy** an easy answer is within w ln(1/(1 - x)) rows where the possible databases agree, w = alpha n (or the
    width that the noise needs, if that is more) and x = 1/4 + noise/w; each reply's own margin is computed from the
    databases that are left. The net of all databases of m rows is within sqrt(ln(2k)/(2m)) of every table on k
    questions (Hoeffding). A random net promises nothing: it is as good as its nearest member, and `net_error` says how
    near that is for tables of the kind the net is made of. thesis: all answers within alpha n with probability
    1 - 2k exp(-alpha n e'/200), for astronomically large n (`theory.median`).

    **Runtime** O(different records of all databases) per answer.

    Theorem: T theorems 18, 19 and 21, lemmas 3 to 8.
    """

    name: ClassVar[str] = "median-basic"
    title: ClassVar[str] = "Median of the databases that are still possible"
    known_as: ClassVar[tuple[str, ...]] = ("median mechanism", "sparse vector (SVT)")
    prefer: ClassVar[str] = "Choose it to study the median mechanism on a tiny schema; 'online-tree' answers better."

    net: str = net_option("All databases of so many rows, or random ones; auto takes all where they can be listed.")
    size: int = database_rows_option(
        "0 takes as many as can be listed for all databases, up to 64, and 64 for random ones; the thesis's "
        "constants bring their own.",
        most=10_000,
    )
    members: int = random_databases_option(5_000, most=MOST_MEMBERS, help="Size of a random net.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constants == "thesis" and (self.net == "random" or self.size):
            raise BadParameter("net", "the thesis's constants take all databases of the size that they set.")

    def net_error(self, domain: Domain, generator: np.random.Generator, questions: int = 100) -> float:
        """How far the nearest of the net's databases is, on average, from a table of the kind the net is made of.

        As a share of the rows, at the worst of some random halves of all records; a simulation on public data.
        """
        net = self._begin(domain, 1.0, None, generator)
        assert isinstance(net, Databases)
        halves = generator.integers(0, 2, (domain.cells(), questions))
        fresh = listed(random_net(domain.cells(), 20, 1_000, generator), domain.cells())
        answers, truths = net.counts @ halves / net.size, fresh @ halves / 1_000
        return float(np.mean([np.abs(answers - truth).max(axis=1).min() for truth in truths]))

    def slot(self, domain: Domain) -> float:
        """Measured: a table of the private rows, a pass over all databases, the margin of the answer."""
        return TABLE + 0.015 + 3e-8 * self._entries(domain)

    def _check_universe(self, domain: Domain) -> None:
        cells = domain.cells()
        if cells > MOST_CELLS:
            raise Refused(
                f"The schema has {amount(cells)} combinations and '{self.name}' holds databases over at most "
                f"{amount(MOST_CELLS)}; use '{self.other}'."
            )
        if self._all(domain) and (count := multisets(cells, self._size(domain))) > MOST_MEMBERS:
            advice = "the calibrated constants" if self.constants == "thesis" else "a smaller size, a random net"
            raise Refused(
                f"There are {amount(count)} databases of {amount(self._size(domain))} rows and '{self.name}' holds at "
                f"most {amount(MOST_MEMBERS)}; use {advice} or '{self.other}'."
            )
        if self._entries(domain) > MOST_ENTRIES:
            raise Refused(
                f"A net of {amount(self.members)} databases of {amount(self._size(domain))} rows is too large to be "
                f"asked at every answer; use fewer or smaller ones, or '{self.other}'."
            )

    def _begin(
        self, domain: Domain, rows: float, earlier: Source | None, generator: np.random.Generator
    ) -> PossibleTables:
        size, cells = self._size(domain), domain.cells()
        if self._all(domain):
            return Databases.of(domain, rows, size, all_of(cells, size), 1 if self.constants == "thesis" else FEWEST)
        places = (
            random_net(cells, self.members, size, generator)
            if earlier is None
            else database_rows(domain, earlier, self.members, size, generator)
        )
        return Databases.of(domain, rows, size, listed(places, cells), FEWEST)

    def _coarseness(self, domain: Domain) -> float:
        """An eighth of the width, which the loss of a question can bear; what no member fulfils, the nearest ones do.

        The guarantee sqrt(ln(2k)/(2m)) of all databases would keep far too many of them."""
        return self.alpha / 8

    def _all(self, domain: Domain) -> bool:
        if self.constants == "thesis" or self.net == "all":
            return True
        return self.net == "auto" and multisets(domain.cells(), self.size or LEAST_ROWS) <= MOST_MEMBERS

    def _size(self, domain: Domain) -> int:
        if self.constants == "thesis":
            bound = self._bound(log_universe=math.log(domain.cells()), log_queries=math.log(self.questions))
            return math.ceil(bound.size(self.alpha))
        if self.size:
            return self.size
        rows = USUAL_ROWS
        while rows > 1 and self._all(domain) and multisets(domain.cells(), rows) > MOST_MEMBERS:
            rows -= 1
        return rows

    def _entries(self, domain: Domain) -> int:
        size = self._size(domain)
        if self._all(domain):
            return multisets(domain.cells(), size) * min(domain.cells(), size)
        return self.members * min(domain.cells(), size)
