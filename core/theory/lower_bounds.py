"""What no private method can do: errors that every release of a class has on some table, whatever computes it.

Two arguments, each for a unit that may hold L rows and a run that must be right with probability 1 - beta:

- **packing** (the finite form of B theorem 5.1): put m rows on a public base record and move them to one record v out
  of N that the class tells apart. If every answer is within less than m/2 rows, the answers name v; so N disjoint
  events have probability at least 1 - beta each on their own table, and at least e^(-epsilon k)(1 - beta) on the table
  without these rows, where k = ceil(m/L) units. They sum to at most 1, so k >= ln(N (1 - beta))/epsilon. With ever
  finer bits N has no limit, and neither has the error: that is the impossibility for real numbers. It needs pure
  privacy.
- **reconstruction** (F theorem 2, for a VC dimension d): half of d shattered records are in the table. Answers within
  e rows give a set back of which at most 2 e/L of d/2 members are wrong (`attacks/hidden_set.py`), so a member is found
  with probability p' >= (1 - beta)(1 - p), p = 4 e/(L d), and a member that was exchanged for a stranger with at most
  (1 - beta) p + beta. Privacy allows p' <= E ((1 - beta) p + beta) + t, where an exchange is one replacement (E =
  e^epsilon, t = delta) or two steps (E = e^(2 epsilon), t = (1 + e^epsilon) delta). Solved for e.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """An error that no private release avoids on every table of so many rows."""

    rows: float
    """The largest error of a class is at least this on some table, in one of 1/beta runs or more often."""
    theorem: str


def least_error(
    queries: Sequence[QueryClass], domain: Domain, unit: Unit, budget: Budget, rows: int, beta: float = 0.05
) -> LowerBound:
    """The larger of the two bounds, over all classes; 0 rows where neither says anything."""
    found = [LowerBound(rows=0.0, theorem="")]
    for query in queries:
        if isinstance(query, Lipschitz):
            continue
        if budget.delta == 0:
            error = packing(log_records(query, domain), float(budget.epsilon), unit, rows, beta)
            found.append(LowerBound(rows=error, theorem="packing of records, after B theorem 5.1"))
        if query.denominator(domain) == 1:
            error = reconstruction(int(query.vc(domain).low), budget, unit, rows, beta)
            found.append(LowerBound(rows=error, theorem="reconstruction, F theorem 2"))
    return max(found, key=lambda bound: bound.rows)


def packing(log_told_apart: float, epsilon: float, unit: Unit, rows: int, beta: float = 0.05) -> float:
    """Half of the rows that have to move before N records may be told apart, L (ceil(ln(N (1 - beta))/epsilon) - 1)/2.

    >>> packing(math.log(2**16), 0.1, Unit.row(), 10_000)
    55.0
    """
    _check(beta, rows)
    steps = (log_told_apart + math.log(1 - beta)) / epsilon
    # Fewer rows than have to move hide everything: then an answer in the middle is the best there is.
    return max(0.0, min(unit.limit * (math.ceil(steps) - 1), rows) / 2)


def finest_bits(alpha: float, epsilon: float, rows: int, beta: float = 0.05) -> float:
    """The bits of a column beyond which no method gives every interval to within alpha: log2 of the N of `packing`.

    >>> finest_bits(0.05, 0.1, 1_000) < finest_bits(0.05, 0.1, 2_000)
    True
    """
    _check(beta, rows)
    moved = math.floor(2 * alpha * rows) + 1
    return (epsilon * moved - math.log(1 - beta)) / math.log(2)


def reconstruction(dimension: int, budget: Budget, unit: Unit, rows: int, beta: float = 0.05) -> float:
    """L d p/4 rows for a class that shatters d records, p being the share that privacy lets nobody find."""
    _check(beta, rows)
    even = 2 * min(dimension // 2, rows // unit.limit)
    steps = 1 if unit.neighbours == "replace" else 2
    loosened = 1.0 if steps == 1 else 1 + math.exp(float(budget.epsilon))
    odds = math.exp(steps * float(budget.epsilon))
    share = (1 - (odds * beta + loosened * float(budget.delta)) / (1 - beta)) / (1 + odds)
    return max(0.0, unit.limit * even * share / 4)


def log_records(query: QueryClass, domain: Domain) -> float:
    """Natural logarithm of the records beside a base record that the class tells apart; 0 where no count is known.

    The base record has the first code of every column, and the others none of these. Tables and rectangles tell two
    records apart by the cell of the one in which the other is not, intervals by the single piece, conjunctions and
    parities by single facts.
    """
    if isinstance(query, Marginals):
        columns = {name for table in query.tables(domain) for name in table}
        return _log_product([domain[name].size - 1 for name in columns])
    if isinstance(query, Intervals | Unions):
        return _log_product([len(query.edges(domain)) - 2])
    if isinstance(query, Rectangles):
        return _log_product([len(cuts) - 2 for cuts in query.edges(domain)])
    if isinstance(query, Conjunctions | Parities):
        return math.log(2 ** len(query.facts(domain)) - 1)
    return 0.0


def _log_product(counts: Sequence[int]) -> float:
    return sum(math.log(count) for count in counts) if min(counts, default=0) > 0 else 0.0


def _check(beta: float, rows: int) -> None:
    if not 0 < beta < 1:
        raise BadParameter("beta", "must be above 0 and below 1.")
    if rows < 1:
        raise BadParameter("rows", "must be at least 1.")
