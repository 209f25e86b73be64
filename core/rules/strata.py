"""Publicly known counts as equations: how many records may have each combination of the columns that are counted.

The combinations of all counted columns that some record can have are the strata. The counts are linear equations in
whole numbers of records per stratum, solved by branch and bound (HiGHS). A key between counted columns says that at
most one value of the other column occurs with each value of the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from core.base.arrays import Codes, Columns, Floats, IntArray
from core.base.errors import Refused
from core.base.wording import amount
from core.formulas.question import MOST_CELLS
from core.rules.rule_set import RuleSet, involved
from core.rules.search import TOO_MANY, possible

MOST_STRATA = 20_000
"""Combinations of all counted columns together."""
SECONDS = 30.0
"""Most time for one solution."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The combinations of counted columns that can occur, and the equations between the numbers of their records."""

    rules: RuleSet
    columns: Columns
    cells: IntArray
    """The flat places of the strata in the table of the columns."""

    @classmethod
    def of(cls, rules: RuleSet) -> Strata:
        counted = set(involved(rules.totals))
        columns = tuple(name for name in rules.domain.names if name in counted)
        if (cells := rules.domain.cells(columns)) > MOST_STRATA:
            raise Refused(
                f"The counts that are declared speak of {amount(cells)} combinations of {', '.join(columns[:5])} and "
                f"at most {amount(MOST_STRATA)} can be met exactly; declare counts of fewer columns."
            )
        return cls(rules, columns, np.flatnonzero(possible(rules, columns, MOST_CELLS)))

    @property
    def codes(self) -> Codes:
        return np.stack(np.unravel_index(self.cells, self.rules.domain.shape(self.columns)), axis=1).astype(np.int64)

    def of_records(self, codes: Codes) -> IntArray:
        """The stratum of every record, by its place in the list; -1 for one that no lawful record has."""
        axes = [self.rules.domain.names.index(name) for name in self.columns]
        shape = self.rules.domain.shape(self.columns)
        flat = np.ravel_multi_index(tuple(codes[:, axes].T), shape) if axes else np.zeros(len(codes), dtype=np.int64)
        place = np.full(self.rules.domain.cells(self.columns), -1)
        place[self.cells] = np.arange(self.cells.size)
        return np.asarray(place[flat], dtype=np.int64)

    @cached_property
    def equations(self) -> tuple[Any, Floats]:
        """One line for each known count: which strata it counts; and the counts."""
        lines = []
        for rule in self.rules.totals:
            mask = rule.counted(self.rules.domain)
            sizes = [self.rules.domain[name].size if name in rule.columns else 1 for name in self.columns]
            spread = np.broadcast_to(mask.reshape(sizes), self.rules.domain.shape(self.columns))
            lines.append(spread.ravel()[self.cells].astype(np.float64))
        numbers = np.array([float(rule.number) for rule in self.rules.totals])
        return sparse.csr_array(np.array(lines).reshape(len(lines), self.cells.size)), numbers

    def rows(self) -> tuple[int, int | None] | None:
        """The least and the greatest number of records, None where it is not bounded; None if nothing solves them."""
        least = self._solve(np.ones(self.cells.size), None, None)
        if least is None:
            return None
        covered = np.asarray(self.equations[0].sum(axis=0)).ravel() > 0
        if not covered.all():
            return int(least.sum()), None
        most = self._solve(-np.ones(self.cells.size), None, None)
        assert most is not None
        return int(least.sum()), int(most.sum())

    def nearest(self, held: IntArray, rows: int) -> IntArray | None:
        """Whole numbers of records with this sum that solve the equations, nearest to those held; None if none do."""
        return self._solve(None, held, rows)

    def _solve(self, prices: Floats | None, held: IntArray | None, rows: int | None) -> IntArray | None:
        """Least cost of the numbers, or least distance from those held."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        size = self.cells.size
        lines, numbers = self.equations
        if not size:
            return None if numbers.any() or rows else np.zeros(0, dtype=np.int64)
        switches = self._switches()
        largest = float(rows if rows is not None else numbers.sum())
        away = size if held is not None else 0
        width = size + away + len(switches)

        def padded(matrix: Any, place: int) -> Any:
            before = sparse.csr_array((matrix.shape[0], place))
            after = sparse.csr_array((matrix.shape[0], width - place - matrix.shape[1]))
            return sparse.hstack([before, matrix, after], format="csr")

        every = sparse.eye_array(size, format="csr")
        limits = [LinearConstraint(padded(lines, 0), numbers, numbers)]
        if rows is not None:
            limits.append(LinearConstraint(padded(sparse.csr_array(np.ones((1, size))), 0), rows, rows))
        cost = np.zeros(width)
        if held is None:
            assert prices is not None
            cost[:size] = prices
        else:
            cost[size : 2 * size] = 1.0
            ends = held.astype(np.float64)
            limits.append(LinearConstraint(padded(every, 0) - padded(every, size), -np.inf, ends))
            limits.append(LinearConstraint(padded(every, 0) + padded(every, size), ends, np.inf))
        for place, (strata, one) in enumerate(switches):
            line = np.zeros((1, width))
            line[0, strata] = 1.0
            line[0, size + away + place] = -largest
            limits.append(LinearConstraint(sparse.csr_array(line), -np.inf, 0.0))
            if one:
                chosen = np.zeros((1, width))
                chosen[0, [size + away + other for other in one]] = 1.0
                limits.append(LinearConstraint(sparse.csr_array(chosen), -np.inf, 1.0))
        top = np.full(width, np.inf)
        top[size + away :] = 1.0
        whole = np.ones(width, dtype=np.int64)
        whole[size : size + away] = 0
        found = milp(
            cost, integrality=whole, bounds=Bounds(0.0, top), constraints=limits, options={"time_limit": SECONDS}
        )
        if found.status == 1:
            raise Refused(TOO_MANY)
        return None if found.x is None else np.rint(found.x[:size]).astype(np.int64)

    def _switches(self) -> list[tuple[IntArray, list[int]]]:
        """For each key inside the columns and each pair of its values: the strata, and the pairs that exclude another.

        The second is given once for every value of the key.
        """
        found: list[tuple[IntArray, list[int]]] = []
        for rule in self.rules.keys:
            if not set(rule.columns) <= set(self.columns):
                continue
            key, other = (self.codes[:, self.columns.index(name)] for name in rule.columns)
            for value in np.unique(key):
                others = np.unique(other[key == value])
                places = list(range(len(found), len(found) + len(others)))
                for number, each in enumerate(others):
                    strata = np.flatnonzero((key == value) & (other == each))
                    found.append((strata, places if number == 0 else []))
        return found


def known_tables(rules: RuleSet) -> dict[Columns, IntArray]:
    """Tables of counts that are known cell by cell: every combination that can occur is counted by itself."""
    found: dict[Columns, dict[int, int]] = {}
    for rule in rules.totals:
        mask = rule.counted(rules.domain)
        if np.count_nonzero(mask) == 1:
            found.setdefault(rule.columns, {})[int(np.argmax(mask))] = rule.number
    complete: dict[Columns, IntArray] = {}
    for columns, cells in found.items():
        can_be = possible(rules, columns, MOST_CELLS).ravel() if rules.domain.cells(columns) <= MOST_STRATA else None
        if can_be is None or any(place not in cells for place in np.flatnonzero(can_be).tolist()):
            continue
        table = np.zeros(rules.domain.cells(columns), dtype=np.int64)
        for place, number in cells.items():
            table[place] = number
        complete[columns] = table.reshape(rules.domain.shape(columns))
    return complete
