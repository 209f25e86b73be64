"""The theorem behind each mechanism, with the sizes of a plan filled in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain
from core.theory import bounds
from core.theory.bound import Bound


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What most theorems speak of."""

    log_universe: float
    log_queries: float
    """Infinite for a continuous class, about which they say nothing."""
    delta: float

    @classmethod
    def of(cls, mechanism: Mechanism, domain: Domain) -> Sizes:
        return cls(
            log_universe=math.log(domain.cells()),
            log_queries=log_size(mechanism.queries, domain),
            delta=float(mechanism.budget.delta),
        )


def log_size(queries: Sequence[QueryClass], domain: Domain) -> float:
    """Natural logarithm of the number of questions of all classes together."""
    logs = [query.log_size(domain) for query in queries]
    top = max(logs)
    return top if math.isinf(top) else top + math.log(sum(math.exp(log - top) for log in logs))


def promised(mechanism: Mechanism, domain: Domain, unit: Unit, rows: int) -> float | None:
    """The error in rows that no answer exceeds, 95 % of the time; None where no theorem promises anything.

    A theorem speaks of one row per person; where a person may hold several, it is asked with so many times fewer rows.
    """
    found = _bound(mechanism, domain)
    if found is None:
        return None
    share = found.error(max(1, rows // unit.limit), float(mechanism.budget.epsilon))
    return share * rows if share < 1 else None


def _bound(mechanism: Mechanism, domain: Domain) -> Bound | None:
    maker = MAKERS.get(mechanism.name)
    if maker is None or domain.cells() < 2:
        return None
    try:
        return maker(bounds[mechanism.name][0], mechanism, domain, Sizes.of(mechanism, domain))
    except DeskError:
        # The sizes are outside what the theorem is about.
        return None


def _answers(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    return theorem(log_queries=sizes.log_queries, delta=sizes.delta)


def _choice(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    return theorem(log_universe=sizes.log_universe, log_queries=sizes.log_queries)


def _rounds(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    return theorem(log_universe=sizes.log_universe, log_queries=sizes.log_queries, delta=sizes.delta)


def _perceptron(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    return theorem(
        log_universe=sizes.log_universe,
        log_queries=sizes.log_queries,
        delta=sizes.delta,
        unevenness=mechanism.unevenness,
    )


def _intervals(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    """One column at a time; several share a budget in a way that the theorem does not know."""
    if len(mechanism.queries) != 1:
        return None
    query = mechanism.queries[0]
    return theorem(bits=query.bits or _bits(domain[query.column].regular), pieces=getattr(query, "parts", 1))


def _rectangles(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    if len(mechanism.queries) != 1:
        return None
    query = mechanism.queries[0]
    return theorem(bits=tuple(query.bits or _bits(domain[name].regular) for name in query.columns))


def _halfspaces(theorem: Any, mechanism: Any, domain: Domain, sizes: Sizes) -> Bound | None:
    if len(mechanism.queries) != 1:
        return None
    query = mechanism.queries[0]
    dimensions = len(query.axes(domain)) + query.translated
    return theorem(dimensions=dimensions, bits=query.bits, margin=mechanism.gamma)


def _bits(cells: int) -> int:
    return max(1, math.ceil(math.log2(cells)))


MAKERS: Mapping[str, Callable[[Any, Any, Domain, Sizes], Bound | None]] = {
    "laplace": _answers,
    "gaussian": _answers,
    "smalldb": _choice,
    "smalldb-linear": _choice,
    "iterative-weights": _rounds,
    "iterative-perceptron": _perceptron,
    "iterative-median": _rounds,
    "game-data": _rounds,
    "game-query": _rounds,
    "interval-search": _intervals,
    "rectangle-search": _rectangles,
    "halfspace-projections": _halfspaces,
}
"""Which sizes a mechanism's theorem takes; the net mechanism's needs an error of its net that nobody knows here."""
