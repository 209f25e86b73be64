"""Tables that are asked about again and again: worth a measurement of their own, though no single answer is far off.

Which columns a question names is public, so counting them costs nothing, and what is measured then is paid like a hard
answer. The count itself is kept by chance: a question raises it with probability 1/STEP, by public coins, so that most
questions leave the state of a session as it is and nothing has to be stored for them (Morris 1978).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from core.base.arrays import Columns, Floats
from core.kernel.noise_level import Additive
from core.privacy.events import Gaussian, Laplace
from core.schema.domain import Domain

STEP, OFTEN = 8, 4
"""A table is due after about STEP x OFTEN questions about it."""
FEWEST_COLUMNS = 3
"""A synthetic table was spent on pairs, so it knows those."""
MOST_CELLS = 300
"""Cells of a table that is measured; chosen on 119 tables of four columns of census data (epsilon 1) before
`shrunk_table`: more cells hold more noise than is learnt."""
MOST_NOTICED = 1_000
"""Tables that are counted at a time."""


@dataclass(frozen=True, kw_only=True)
class Themes:
    """How often each table was asked about, roughly, and how many can still be measured."""

    left: int
    event: Additive | None = None
    """What a table is measured with: that which was reserved when the session opened."""
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
        return replace(self, left=self.left - 1, seen={**self.seen, tuple(sorted(columns)): OFTEN + 1})

    def to_json(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "seen": [[list(columns), count] for columns, count in self.seen.items()],
            "laplace": str(self.event.epsilon) if isinstance(self.event, Laplace) else None,
            "gaussian": str(self.event.rho) if isinstance(self.event, Gaussian) else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Themes:
        """A session that did not keep its price measures no more."""
        event: Additive | None = None
        if data.get("laplace") or data.get("gaussian"):
            event = Laplace(Fraction(data["laplace"])) if data["laplace"] else Gaussian(Fraction(data["gaussian"]))
        seen: Sequence[Sequence[Any]] = data["seen"]
        left = data["left"] if event is not None else 0
        return cls(left=left, event=event, seen={tuple(columns): count for columns, count in seen})


def shrunk_table(measured: Floats, model: Floats, sigma: float) -> Floats:
    """The model's table moved towards a measured one as far as each cell is expected to be off (empirical Bayes).

    The squared error of a cell is taken in proportion to its count, with the factor that makes their sum what the two
    tables differ by beyond noise. So full cells follow the measurement and empty ones do not follow its noise. Meeting
    every cell to within one standard deviation, as hard answers do, leaves errors of about that size as they were: of
    tables of four columns (a generated survey, 14 columns, epsilon 1, 20 tables in two sessions) cells were off by 1.10
    of what a release of the whole budget is off by, and by .95 with this.
    """
    apart = measured - model
    spread = max(0.0, float((apart**2 - sigma**2).sum())) / max(float(model.sum()), 1.0)
    return np.maximum(model + apart * spread * model / (spread * model + sigma**2), 0.0)


NO_THEMES = Themes(left=0)
"""Of a session that measures none."""
