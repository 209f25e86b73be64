"""Tables that are asked about again and again: worth a measurement of their own, though no single answer is far off.

Which columns a question names is public, so counting them costs nothing, and what is measured then is paid like a hard
answer. The count itself is kept by chance: a question raises it with probability 1/STEP, by public coins, so that most
questions leave the state of a session as it is and nothing has to be stored for them (Morris 1978).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.base.arrays import Columns
from core.schema.domain import Domain

STEP, OFTEN = 8, 4
"""A table is due after about STEP x OFTEN questions about it."""
FEWEST_COLUMNS = 3
"""A synthetic table was spent on pairs, so it knows those."""
MOST_CELLS = 300
"""Cells of a table that is measured. On 119 tables of four columns of census data (epsilon 1) measuring those of up to
300 cells lowered their total variation by 17 to 36 % below a release of the whole budget; more cells hold more noise
than is learnt."""
MOST_NOTICED = 1_000
"""Tables that are counted at a time."""


@dataclass(frozen=True, kw_only=True)
class Themes:
    """How often each table was asked about, roughly, and how many can still be measured."""

    left: int
    seen: Mapping[Columns, int] = field(default_factory=dict)

    def asked(self, columns: Columns, domain: Domain, coins: Callable[[], np.random.Generator]) -> Themes:
        """The same object, unless this question is counted."""
        if not self.left or len(columns) < FEWEST_COLUMNS or domain.cells(columns) > MOST_CELLS:
            return self
        key = tuple(sorted(columns))
        count = self.seen.get(key, 0)
        if count >= OFTEN or (key not in self.seen and len(self.seen) >= MOST_NOTICED) or coins().integers(STEP):
            return self
        return replace(self, seen={**self.seen, key: count + 1})

    def due(self, columns: Columns) -> bool:
        """Whether the table is to be measured now."""
        return self.left > 0 and self.seen.get(tuple(sorted(columns)), 0) == OFTEN

    def measured(self, columns: Columns) -> Themes:
        """After the table was measured; that never happens twice."""
        return Themes(left=self.left - 1, seen={**self.seen, tuple(sorted(columns)): OFTEN + 1})

    def to_json(self) -> dict[str, Any]:
        return {"left": self.left, "seen": [[list(columns), count] for columns, count in self.seen.items()]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Themes:
        seen: Sequence[Sequence[Any]] = data["seen"]
        return cls(left=data["left"], seen={tuple(columns): count for columns, count in seen})


NO_THEMES = Themes(left=0)
"""Of a session that measures none."""
