"""What the ticked query classes ask of one synthetic table: tables of counts, ranges and halfspaces.

Everything here follows from the schema and the query classes, so it is public and fixed before anything is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from core.base.arrays import Columns
from core.base.errors import Refused
from core.base.wording import amount
from core.mechanisms.kit.portions import wanted
from core.mechanisms.tree.lawfulness import Lawfulness
from core.mechanisms.tree.pairs import MOST_CLIQUE
from core.queries.halfspaces import Halfspaces
from core.queries.kit.protocol import QueryClass
from core.queries.parities import Parities
from core.schema.domain import Domain

MOST_TABLE = 2**25
"""Cells of one table that a query class may ask for."""
MOST_PARITY = 20_000
"""Cells of a table of parities: tables of fewer columns say nothing about it, so it has to be measured itself."""
MOST_SCORED = 20_000
"""Pairs of columns whose distances are asked for."""
MOST_RANGES = 2**20
"""Cells of one table whose ranges are counted."""
WIDE = 128
"""Ordered columns with more cells than this are measured as a tree of ranges, whether ranges are asked or not."""
SIDE = Fraction(1, 8)
"""What each column of a rectangle gets for its own ranges, when the rectangle's blocks get 1."""
IMPORTANCE = {"tables": 2, "ranges": 1, "planes": 1}
"""How the budget is shared by the kinds of question that are ticked."""
FAVOUR = 16.0
"""What a table with a favoured column counts for, when others count for 1. On a census table at epsilon 1, boosted
trees that predict income from records lose .0206 of their area under the curve with 1, .0153 with 4 and .0151 with 16,
and logistic regression .0168, .0128 and .0076 (two releases each)."""
TRIPLE, MOST_TRIPLES = 2.0, 100
"""What a table of the target and two more columns counts for, and how many of them are scored at most: with every one
the others' scores have more noise."""
_RANGES = ("intervals", "unions", "rectangles")


@dataclass(frozen=True, eq=False)
class Workload:
    """Every question that the records are to answer, sorted by the way it is measured."""

    domain: Domain
    tables: Mapping[Columns, float]
    """Tables of counts with their weights; halfspaces add the pairs of their columns, which shape the records."""
    ranges: Mapping[Columns, float]
    """Columns, or sets of two or three, whose ranges are asked, with their weights."""
    planes: tuple[Halfspaces, ...]
    wide: int = WIDE
    """Ordered columns with more cells than this are counted level by level."""
    added: frozenset[Columns] = frozenset()
    """Tables that nobody asked for, and that shape the records."""
    coarse: Fraction = Fraction(0)
    """Part of what tables of several columns get that every pair is measured with in a few parts by a few."""

    @cached_property
    def lawfulness(self) -> Lawfulness:
        """What the rules of the schema say."""
        return Lawfulness.of(self.domain)

    def measured(self) -> list[str]:
        """The columns that are measured by themselves: those involved whose counts are not known and not nested."""
        nested = self.nested()
        known = self.lawfulness.known_columns
        return [name for name in self.involved() if (name,) in nested or name not in known]

    @classmethod
    def of(cls, queries: Iterable[QueryClass], domain: Domain, wide: int = WIDE) -> Workload:
        listed = tuple(queries)
        planes = tuple(query for query in listed if isinstance(query, Halfspaces))
        ranged = [query for query in listed if query.name in _RANGES]
        tables = wanted([query for query in listed if query not in planes and query not in ranged], domain)
        for query in planes:
            query.check(domain)
            axes = [name for name in domain.names if name in query.axes(domain)]
            for pair in combinations(axes, min(2, len(axes))):
                tables[pair] = tables.get(pair, 0.0) + 1.0
        ranges = wanted(ranged, domain)
        for columns in [columns for columns in ranges if len(columns) > 1]:
            for name in columns:
                ranges[name,] = ranges.get((name,), 0.0) + float(SIDE)
        return cls(domain, tables, ranges, planes, wide)

    def favouring(self, target: str | None, groups: Sequence[str]) -> Workload:
        """The same questions, with more weight on tables that hold the target or a group, and triples of the target.

        A triple holds a group where there are any; without groups it holds any two columns, if that is few.
        """
        named = {target, *groups} - {None}
        if not named or not self.tables:
            return self
        tables = {
            columns: weight * (FAVOUR if len(columns) > 1 and named.intersection(columns) else 1.0)
            for columns, weight in self.tables.items()
        }
        others = [name for name in self.involved() if name != target]
        triples = [pair for pair in combinations(others, 2) if not groups or set(groups).intersection(pair)]
        if target in self.involved() and len(triples) <= MOST_TRIPLES:
            for pair in triples:
                columns = tuple(name for name in self.domain.names if name in (target, *pair))
                if self.domain.cells(columns) <= MOST_TABLE:
                    tables[columns] = tables.get(columns, 0.0) + TRIPLE
        return replace(self, tables=tables, added=frozenset(tables) - frozenset(self.tables))

    def asked(self) -> list[Columns]:
        """The tables that are to be published."""
        return [columns for columns in self.tables if columns not in self.added]

    def parts(self, whole: Fraction) -> dict[str, Fraction]:
        """What each kind of question gets of this part of the budget."""
        ticked = {"tables": bool(self.tables), "ranges": bool(self.ranges), "planes": bool(self.planes)}
        if not any(ticked.values()):
            ticked["tables"] = True
        every = sum(IMPORTANCE[kind] for kind in ticked if ticked[kind])
        return {kind: whole * Fraction(IMPORTANCE[kind] * ticked[kind], every) for kind in ticked}

    def pairs(self) -> dict[Columns, float]:
        """How much each pair of columns matters: a table counts for all its pairs."""
        weights: dict[Columns, float] = {}
        for columns, weight in self.tables.items():
            for pair in combinations(columns, 2):
                weights[pair] = weights.get(pair, 0.0) + weight
        return weights

    def pairs_in(self, merged: Domain) -> dict[Columns, float]:
        """The pairs whose columns have more than one value each once rare values are merged."""
        return {pair: weight for pair, weight in self.pairs().items() if min(merged.shape(pair)) > 1}

    def larger_in(self, merged: Domain) -> dict[Columns, float]:
        """Wanted tables of three or more columns that are small enough to be measured themselves."""
        return {
            columns: weight
            for columns, weight in self.tables.items()
            if len(columns) > 2 and merged.cells(columns) <= MOST_CLIQUE and min(merged.shape(columns)) > 1
        }

    def involved(self) -> list[str]:
        """The columns that any question needs; all of them where none names one."""
        named = {name for columns in (*self.tables, *self.ranges) for name in columns}
        named.update(name for query in self.planes for name in query.axes(self.domain))
        return [name for name in self.domain.names if name in named or not named]

    def nested(self) -> list[Columns]:
        """What is counted level by level: ranges that are asked, and wide columns."""
        ordered = [name for name in self.involved() if self.domain[name].ordered]
        return list(dict.fromkeys([*self.ranges, *((name,) for name in ordered if self.domain[name].size > self.wide)]))

    def searched(self, columns: Columns) -> bool:
        """Whether it is looked for where rows of a column crowd before they are counted: ranges of it alone are asked.

        What is found and left whole is taken to be even, which a range hardly notices and a table does: on a generated
        table of 20,000 rows with a column of 1,024 cells of which every twentieth is filled, tables of pairs with that
        column were off by up to 3.7 times as much at epsilon .3 and 1, where a smooth column gained as much.
        """
        return columns in self.ranges and not any(set(columns) & set(table) for table in self.tables)

    def check(self) -> None:
        """Refuse what one synthetic table cannot serve, naming the size and what to use instead."""
        for columns in self.tables:
            if self.domain.cells(columns) > MOST_TABLE:
                raise Refused(
                    f"A table of {' x '.join(columns[:5])} has {amount(self.domain.cells(columns))} cells and 'tree' "
                    f"answers at most {amount(MOST_TABLE)}; choose fewer columns, coarser bins or a lower order."
                )
        for columns in self.ranges:
            if self.domain.cells(columns) > MOST_RANGES:
                raise Refused(
                    f"Ranges of {' x '.join(columns)} have {amount(self.domain.cells(columns))} cells and 'tree' "
                    f"counts at most {amount(MOST_RANGES)}; choose coarser bins, or release them alone by "
                    f"'{'interval-tree' if len(columns) == 1 else 'rectangle-tree'}'."
                )
        if len(self.pairs()) > MOST_SCORED:
            raise Refused(
                f"These query classes need {amount(len(self.pairs()))} pairs of columns and 'tree' scores at "
                f"most {amount(MOST_SCORED)}; choose fewer columns."
            )


def admit(query: QueryClass, domain: Domain) -> None:
    """Refuse a class that one synthetic table cannot serve, naming the mechanism that can."""
    query.check(domain)
    if isinstance(query, Parities):
        for columns in query.tables(domain):
            if domain.cells(columns) > MOST_PARITY:
                raise Refused(
                    f"Parities of {len(columns)} columns show in none of their pairs, and their table has "
                    f"{amount(domain.cells(columns))} cells where 'tree' measures at most {amount(MOST_PARITY)}; "
                    "choose fewer columns, or use 'histogram'."
                )
