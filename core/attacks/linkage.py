"""Linkage: dropping names is not enough, because few columns single people out.

Whoever knows some facts about a person (age, sex and district, say) finds the rows that fit; where only one person
fits, everything else in these rows is known too. The thesis recalls how a governor's medical record was found so in a
table without names (T section 2.1; Sweeney 2002). This looks at public or invented tables only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from core.base.errors import BadParameter, printable

FEW = 5
"""Smaller groups are often held back by statistical offices."""


@dataclass(frozen=True, kw_only=True)
class SingledOut:
    """How many people share their facts with how few."""

    people: int
    alone: int
    """People who are the only ones with their facts."""
    among_few: int
    """People who share theirs with fewer than five in all, themselves included."""

    @property
    def share(self) -> float:
        return self.alone / self.people if self.people else 0.0


def singled_out(frame: pd.DataFrame, columns: Sequence[str]) -> SingledOut:
    """One line per person; a missing value is a fact like any other.

    >>> people = pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> singled_out(people, ["age", "sex"]).alone
    1
    """
    unknown = next((name for name in columns if name not in frame.columns), None)
    if not columns or unknown is not None:
        raise BadParameter("columns", f"'{printable(unknown)}' is not in the table." if unknown else "choose one.")
    sizes = frame.groupby(list(columns), dropna=False, observed=True).size()
    return SingledOut(people=len(frame), alone=int((sizes == 1).sum()), among_few=int(sizes[sizes < FEW].sum()))
