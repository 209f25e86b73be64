"""Publicly known counts as equations: how many records may have each combination of the columns that are counted.

The combinations of all counted columns, and of those of keys that matter to them, that some record can have are the
strata. The counts are linear equations in whole numbers of records per stratum, solved by branch and bound (HiGHS). A
key says that at most one value of the other column occurs with each value of the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from core.base.arrays import Codes, Columns, Flags, Floats, IntArray
from core.base.errors import Refused, printable
from core.base.wording import amount
from core.formulas.question import MOST_CELLS
from core.rules.kinds import KeyRule
from core.rules.rule_set import RuleSet, involved
from core.rules.search import TOO_MANY, possible

MOST_STRATA = 20_000
"""Combinations of all counted columns together, and of those of keys that matter to them."""
_UNKNOWN_KEYS = (
    "Which functions the keys are does not follow from the known counts in reasonable time; declare it, with rules "
    "such as 'if postcode in (1, 2) then region = north', or leave the keys out."
)
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
            raise Refused(_too_many("The counts", cells, columns, "counts of fewer columns"))
        keys = keys_that_matter(rules)
        counted.update(involved(keys))
        columns = tuple(name for name in rules.domain.names if name in counted)
        if (cells := rules.domain.cells(columns)) > MOST_CELLS:
            raise Refused(_too_many("The counts and keys", cells, columns, "fewer of them"))
        found = np.flatnonzero(possible(rules, columns, MOST_CELLS))
        if found.size > MOST_STRATA and keys:
            raise Refused(_too_many("The counts and keys", found.size, columns, "fewer of them"))
        return cls(rules, columns, found)

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
        least = self._solve(np.ones(self.cells.size))
        if least is None:
            return None
        covered = np.asarray(self.equations[0].sum(axis=0)).ravel() > 0
        if not covered.all() and self._solve(np.ones(self.cells.size), beside=~covered) is not None:
            return int(least.sum()), None
        most = self._solve(-np.ones(self.cells.size))
        assert most is not None
        return int(least.sum()), int(most.sum())

    def rows_near(self, rows: int) -> int | None:
        """The number of records nearest to this one with which the counts can be met; None if they cannot be."""
        found = self._solve(np.zeros(self.cells.size), about=rows)
        return None if found is None else int(found.sum())

    def nearest(self, held: IntArray, rows: int | None) -> IntArray:
        """Whole numbers of records with this sum that solve the equations, nearest to those held."""
        found = self._solve(None, held, rows)
        if found is None:
            raise Refused("The known counts cannot be met by this number of records.")
        return found

    def _solve(
        self,
        prices: Floats | None,
        held: IntArray | None = None,
        rows: int | None = None,
        *,
        beside: Flags | None = None,
        about: int | None = None,
    ) -> IntArray | None:
        """Least cost of the numbers, or least distance from those held, or of their sum from one.

        With `beside`, strata of which one has a record at least.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        size = self.cells.size
        lines, numbers = self.equations
        if not size:
            met = not rows and not numbers.any()
            return np.zeros(0, dtype=np.int64) if met else None
        # no stratum has more than the least count that counts it, or all others
        largest = float(max(rows or 0, about or 0, 0 if held is None else held.sum(), numbers.sum() + 1))
        top = np.full(size, largest)
        for place, number in enumerate(numbers):
            own = lines.indices[lines.indptr[place] : lines.indptr[place + 1]]
            top[own] = np.minimum(top[own], number)
        switches = self._switches(top, largest)
        away = size if held is not None else 1 if about is not None else 0
        width = size + away + (switches.shape[1] - size if switches is not None else 0)

        def padded(matrix: Any, place: int) -> Any:
            before = sparse.csr_array((matrix.shape[0], place))
            after = sparse.csr_array((matrix.shape[0], width - place - matrix.shape[1]))
            return sparse.hstack([before, matrix, after], format="csr")

        every, sum_ = sparse.eye_array(size, format="csr"), sparse.csr_array(np.ones((1, size)))
        limits = [LinearConstraint(padded(lines, 0), numbers, numbers)]
        if rows is not None:
            limits.append(LinearConstraint(padded(sum_, 0), rows, rows))
        if beside is not None:
            limits.append(LinearConstraint(padded(sparse.csr_array(beside[None, :].astype(np.float64)), 0), 1, np.inf))
        cost = np.zeros(width)
        cost[:size] = 0.0 if prices is None else prices
        if away:
            cost[size : size + away] = 1.0
            sums, ends = (every, held.astype(np.float64)) if held is not None else (sum_, float(about or 0))
            apart = sparse.eye_array(away, format="csr")
            limits.append(LinearConstraint(padded(sums, 0) - padded(apart, size), -np.inf, ends))
            limits.append(LinearConstraint(padded(sums, 0) + padded(apart, size), ends, np.inf))
        if switches is not None:
            moved = padded(switches[:, :size], 0) + padded(switches[:, size:], size + away)
            most = np.where(np.asarray(switches[:, :size].sum(axis=1)).ravel() > 0, 0.0, 1.0)
            limits.append(LinearConstraint(moved, -np.inf, most))
        upper = np.full(width, np.inf)
        upper[:size], upper[size + away :] = top, 1.0
        whole = np.ones(width, dtype=np.int64)
        whole[size : size + away] = 0
        found = milp(
            cost, integrality=whole, bounds=Bounds(0.0, upper), constraints=limits, options={"time_limit": SECONDS}
        )
        if found.status == 1 and (held is None or found.x is None):
            raise Refused(TOO_MANY if switches is None else _UNKNOWN_KEYS)
        return None if found.x is None else np.rint(found.x[:size]).astype(np.int64)

    def _switches(self, top: Floats, largest: float) -> Any:
        """Lines that let a pair of a key's values occur only where its switch is on, and one switch for each key value.

        Columns are the strata, then the switches; None where no key is inside.
        """
        at: list[IntArray] = []
        sizes: list[Floats] = []
        height, switch = 0, self.cells.size
        for rule in self.rules.keys:
            if not set(rule.columns) <= set(self.columns):
                continue
            key, other = (self.codes[:, self.columns.index(name)] for name in rule.columns)
            values, pair = np.unique(key * self.rules.domain[rule.columns[1]].size + other, return_inverse=True)
            own = np.minimum(np.bincount(pair, weights=top), largest)
            places = np.arange(values.size)
            _, of_key = np.unique(values // self.rules.domain[rule.columns[1]].size, return_inverse=True)
            at += [
                np.stack([height + pair, np.arange(pair.size)]),
                np.stack([height + places, switch + places]),
                np.stack([height + values.size + of_key, switch + places]),
            ]
            sizes += [np.ones(pair.size), -own, np.ones(values.size)]
            height, switch = height + values.size + int(of_key.max()) + 1, switch + values.size
        if not at:
            return None
        lines, columns = np.concatenate(at, axis=1)
        return sparse.csr_array((np.concatenate(sizes), (lines, columns)), shape=(height, switch))


def _too_many(what: str, cells: int, columns: Columns, instead: str) -> str:
    return (
        f"{what} that are declared speak of {amount(cells)} combinations of {', '.join(map(printable, columns[:5]))} "
        f"and at most {amount(MOST_STRATA)} can be met exactly; declare {instead}."
    )


def keys_that_matter(rules: RuleSet) -> tuple[KeyRule, ...]:
    """Keys of which the known counts can depend; all others can be met by any table that meets the counts.

    A key that follows from others says nothing. One whose other column no rule names can be any function; one whose own
    column no rule names, and which has as many values as the other, can give each of them one of its own. Keys that
    hang together with no counted column are met by copies of one record.
    """
    kept = [rule for rule in rules.keys if rules.totals]
    for rule in tuple(kept):
        if follows(rule, [other for other in kept if other is not rule]):
            kept.remove(rule)
    others = [*rules.single, *rules.totals]

    def free(rule: KeyRule) -> bool:
        named = [name for other in [*others, *kept] if other is not rule for name in other.columns]
        key, other = rule.columns
        return other not in named or (key not in named and rules.domain[key].size >= rules.domain[other].size)

    while loose := [rule for rule in kept if free(rule)]:
        kept.remove(loose[0])
    near = near_counts(rules.only([*others, *kept]))
    return tuple(rule for rule in kept if set(rule.columns) <= near)


def near_counts(rules: RuleSet) -> set[str]:
    """The columns that hang together with counted ones by any rules."""
    near, grown = set(involved(rules.totals)), True
    while grown:
        found = {name for rule in rules.rules if set(rule.columns) & near for name in rule.columns}
        grown, near = bool(found - near), near | found
    return near


def follows(rule: KeyRule, keys: Sequence[KeyRule]) -> bool:
    """Whether a chain of other keys leads from the first column of a key to its second."""
    reached, grown = {rule.columns[0]}, True
    while grown:
        found = {key.columns[1] for key in keys if key.columns[0] in reached}
        grown, reached = bool(found - reached), reached | found
    return rule.columns[1] in reached


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
