"""Released tables of counts that obey the rules: nothing in impossible cells, and known counts as they are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from core.base.arrays import Columns, Flags, Floats, IntArray
from core.base.axes import summed
from core.base.errors import Refused, printable
from core.rules.rule_set import RuleSet
from core.rules.search import possible
from core.rules.strata import known_tables

SWEEPS = 60
"""Times that all known counts are met in turn; one table of them is met by the first."""
MOST_JOINT = 2**20
"""Cells of a joint table of rules that reach beyond the columns of a table."""


@dataclass(frozen=True, eq=False)
class LawfulTables:
    """What the rules say about tables of counts."""

    rules: RuleSet

    @classmethod
    def of(cls, rules: RuleSet) -> LawfulTables:
        return _of(rules)

    @cached_property
    def known(self) -> Mapping[Columns, IntArray]:
        """Tables that are known cell by cell."""
        return known_tables(self.rules)

    @cached_property
    def rows(self) -> int | None:
        """The number of records, where a table is known cell by cell."""
        return next((int(table.sum()) for table in self.known.values()), None)

    def check_asked(self, tables: Iterable[Columns]) -> None:
        """Refuse questions whose every answer the known counts say: there is nothing to measure, and nothing to pay."""
        asked = set(tables)
        if asked and all(any(set(columns) <= set(own) for own in self.known) for columns in asked):
            named = [name for name in self.rules.domain.names if any(name in columns for columns in asked)]
            columns = ", ".join(map(printable, named[:5])) + (" and others" if len(named) > 5 else "")
            raise Refused(
                f"The counts that the rules declare already say everything that is asked about {columns}, so nothing "
                "needs to be paid for; ask about other columns too."
            )

    def possible(self, columns: Columns) -> Flags | None:
        """Which cells of a table can hold records; None where all can."""
        found = possible(self.rules, columns, MOST_JOINT) if self.rules.single else None
        return None if found is None or found.all() else found

    def counts(self, columns: Columns) -> list[tuple[Flags, float]]:
        """Parts of a table whose counts are known: which cells, and how many records."""
        domain, found = self.rules.domain, []
        for rule in self.rules.totals:
            if set(rule.columns) <= set(columns):
                sizes = [domain[name].size if name in rule.columns else 1 for name in columns]
                order = [rule.columns.index(name) for name in columns if name in rule.columns]
                mask = rule.counted(domain).transpose(order).reshape(sizes)
                found.append((np.broadcast_to(mask, domain.shape(columns)), float(rule.number)))
        for own, table in self.known.items():
            shared = tuple(name for name in columns if name in own)
            if shared and len(shared) < len(own):
                found += self._margin(columns, shared, summed(table, own, shared))
        if self.rows is not None:
            found.append((np.ones(domain.shape(columns), dtype=np.bool_), float(self.rows)))
        return found

    def _margin(self, columns: Columns, shared: Columns, table: IntArray) -> list[tuple[Flags, float]]:
        domain, found = self.rules.domain, []
        sizes = [domain[name].size if name in shared else 1 for name in columns]
        for place in range(table.size):
            mask = (np.arange(table.size) == place).reshape(sizes)
            found.append((np.broadcast_to(mask, domain.shape(columns)), float(table.ravel()[place])))
        return found

    def applied(self, columns: Columns, table: Floats) -> Floats:
        """The table with impossible cells empty and known counts met; what is left keeps its proportions."""
        allowed, known = self.possible(columns), self.counts(columns)
        if allowed is None and not known:
            return table
        total = float(table.sum())
        found = np.maximum(table, 0.0)
        if allowed is not None:
            found = np.where(allowed, found, 0.0)
            if not known and found.sum() > 0:
                found = found * (total / found.sum())
        if not known:
            return found
        if self.rows is None:
            known.append((np.ones(table.shape, dtype=np.bool_), total))
        start = found if allowed is None else np.where(allowed, found, 0.0)
        # A cell that noise has emptied may be needed by a known count.
        spare = 1e-9 * max(total, 1.0) / table.size
        found = start + (spare if allowed is None else spare * allowed)
        for _ in range(SWEEPS):
            worst = 0.0
            for mask, number in known:
                held = float(found[mask].sum())
                if held > 0:
                    found = np.where(mask, found * (number / held), found)
                worst = max(worst, abs(held - number))
            if worst <= 1e-9 * max(total, 1.0):
                break
        return found


@lru_cache(maxsize=32)
def _of(rules: RuleSet) -> LawfulTables:
    return LawfulTables(rules)
