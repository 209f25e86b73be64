"""One score for a release and what it is made of: every column and every pair of columns beside the truth.

**Privacy** None: all of it is exact and for the curator's eyes. Nothing here may enter a release, an export or a log.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from core.base.arrays import Floats
from core.base.wording import plural
from core.planning.quality.groups import labels_of, shares
from core.queries.kit.protocol import Source
from core.schema.domain import Domain

MOST_COLUMNS = 60
"""Columns that are judged, the first ones: 1,770 pairs, which take some seconds on a million rows."""
MOST_CELLS = 2**20
"""Counts of one table; pairs with more are left out."""
NOTABLE = 0.1
"""Cramér's V from which an association is worth keeping: a tenth of what two columns that say the same have."""
KEPT = 0.5
"""The part of an association that a release must still show to have kept it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedColumn:
    """One column: the share of the rows in each group of its values, true and released."""

    name: str
    labels: Sequence[str]
    truth: Floats
    released: Floats

    @property
    def distance(self) -> float:
        return distance(self.truth, self.released)


@dataclass(frozen=True, kw_only=True)
class JudgedPair:
    """Two columns: how far the released table is from the true one, and how strongly the columns hang together."""

    columns: tuple[str, str]
    distance: float
    """Total variation: the share of the rows that would have to be moved."""
    alone: float
    """The same for a table that knows both columns and nothing of how they hang together."""
    sampled: float
    """The same for another sample of as many rows from the same population, as expected."""
    truth: float
    released: float
    """Cramér's V, from 0 for columns that tell nothing about each other to 1, less what chance gives so many rows."""

    @property
    def notable(self) -> bool:
        return self.truth >= NOTABLE

    @property
    def kept(self) -> bool:
        """Whether the release still shows a good part of the association."""
        return self.released >= KEPT * self.truth


@dataclass(frozen=True, kw_only=True, eq=False)
class Quality:
    """A release beside its table."""

    columns: tuple[JudgedColumn, ...]
    pairs: tuple[JudgedPair, ...]
    unseen: int
    """Columns and pairs that were too many or too large to be judged."""

    @cached_property
    def score(self) -> float:
        """Of 100 rows, those that stand in the right cell of a table of two columns, on average over all pairs."""
        return _score([pair.distance for pair in self.pairs] or [column.distance for column in self.columns])

    def worst(self, most: int = 5) -> list[JudgedPair]:
        return sorted(self.pairs, key=lambda pair: -pair.distance)[:most]

    def meaning(self) -> str:
        """What the score says, and two others to hold it against."""
        moved = 100 - self.score
        if not self.pairs:
            return f"Of 100 rows about {moved:.1f} would have to be moved to another value to give the true counts."
        return (
            f"On average over {plural(len(self.pairs), 'pair')} of columns, {moved:.1f} of 100 rows would have to be "
            f"moved to another cell to give the true table. Another sample of as many rows from the same population "
            f"would score about {_score([pair.sampled for pair in self.pairs]):.1f}, and exact columns without any "
            f"association between them {_score([pair.alone for pair in self.pairs]):.1f}."
        )

    def lost(self) -> str | None:
        """One sentence where most of what columns say about each other is gone; None where it is kept."""
        notable = [pair for pair in self.pairs if pair.notable]
        gone = [pair for pair in notable if not pair.kept]
        if len(gone) * 2 <= len(notable):
            return None
        named = "; ".join(" and ".join(pair.columns) for pair in sorted(gone, key=lambda pair: -pair.truth)[:3])
        return (
            f"Lost in the noise: {len(gone):,} of {plural(len(notable), 'notable association')} between columns "
            f"(the strongest: {named}). Counts of single columns may still be right. The table is small for what was "
            "asked: ask for fewer columns or bins, or spend more."
        )


def judge(truth: Source, released: Source) -> Quality:
    """Every column and every pair; columns with many cells by groups of them."""
    domain = truth.domain
    rows = int(np.asarray(truth.marginal(())).sum())
    names = domain.names[:MOST_COLUMNS]
    pairs = list(combinations(names, 2))
    fitting = [pair for pair in pairs if domain.cells(pair) <= MOST_CELLS]
    return Quality(
        columns=tuple(_column(domain, name, truth, released) for name in names),
        pairs=tuple(_pair(pair, rows, truth, released) for pair in fitting),
        unseen=len(domain) - len(names) + len(pairs) - len(fitting),
    )


def distance(one: Floats, other: Floats) -> float:
    """Total variation of two tables of shares."""
    return float(np.abs(one - other).sum()) / 2


def association(table: Floats) -> float:
    """Cramér's V of a table of shares: the root of chi squared over the most that it can be."""
    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(used.shape) < 2:
        return 0.0
    alone = np.outer(used.sum(axis=1), used.sum(axis=0))
    squared = float(((used - alone) ** 2 / alone).sum())
    return math.sqrt(squared / (min(used.shape) - 1))


def _score(distances: Sequence[float]) -> float:
    return 100 * (1 - float(np.mean(distances)))


def _column(domain: Domain, name: str, truth: Source, released: Source) -> JudgedColumn:
    return JudgedColumn(
        name=name, labels=labels_of(domain[name]), truth=shares(truth, [name]), released=shares(released, [name])
    )


def _pair(columns: tuple[str, str], rows: int, truth: Source, released: Source) -> JudgedPair:
    true, given = shares(truth, columns), shares(released, columns)
    return JudgedPair(
        columns=columns,
        distance=distance(true, given),
        alone=distance(true, np.outer(true.sum(axis=1), true.sum(axis=0))),
        sampled=_sampled(true, rows),
        truth=_unbiased(true, rows),
        released=_unbiased(given, rows),
    )


def _sampled(table: Floats, rows: int) -> float:
    """The mean total variation between shares and those of a sample: E|X/n - p| is about sqrt(2p(1-p)/(pi n)), and at
    most 2p(1-p)."""
    spread = table * (1 - table)
    return float(np.minimum(np.sqrt(2 * spread / (math.pi * max(rows, 1))), 2 * spread).sum()) / 2


def _unbiased(table: Floats, rows: int) -> float:
    """Cramér's V less what chance alone gives it in a small table (Bergsma 2013)."""
    used = (int((table.sum(axis=1) > 0).sum()), int((table.sum(axis=0) > 0).sum()))
    if min(used) < 2 or rows < 2:
        return 0.0
    chance = (used[0] - 1) * (used[1] - 1) / (rows - 1)
    squared = max(0.0, association(table) ** 2 * (min(used) - 1) - chance)
    sides = [side - (side - 1) ** 2 / (rows - 1) for side in used]
    return math.sqrt(squared / max(min(sides) - 1, 1e-9)) if min(sides) > 1 else 0.0
