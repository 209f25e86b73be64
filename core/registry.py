"""One line per query class and mechanism; forms, conformance tests and documentation follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import Any

from core.errors import BadParameter, Unknown, printable
from core.mechanisms.gaussian import Gaussian
from core.mechanisms.histogram import NoisyHistogram
from core.mechanisms.laplace import Laplace
from core.mechanisms.protocol import Mechanism
from core.privacy import Budget
from core.queries.marginals import Marginals
from core.queries.protocol import QueryClass

query_classes: Mapping[str, type[QueryClass]] = MappingProxyType({
    "marginals": Marginals,
})

mechanisms: Mapping[str, type[Mechanism]] = MappingProxyType({
    "laplace": Laplace,
    "gaussian": Gaussian,
    "histogram": NoisyHistogram,
})


def query_to_json(query: QueryClass) -> dict[str, Any]:
    return {"class": query.name, **asdict(query)}  # type: ignore[call-overload]


def query_from_json(data: Mapping[str, Any]) -> QueryClass:
    options = dict(data)
    return _build(query_classes, "query class", str(options.pop("class", "")), options)


def mechanism_from(name: str, queries: Sequence[QueryClass], budget: Budget, options: Mapping[str, Any]) -> Mechanism:
    """The named mechanism for these queries and this budget, or a sentence that names what is wrong."""
    if not queries:
        raise BadParameter("queries", "choose at least one query class.")
    return _build(mechanisms, "mechanism", name, {"queries": tuple(queries), "budget": budget, **options})


def _build(registered: Mapping[str, Any], noun: str, name: str, options: Mapping[str, Any]) -> Any:
    if name not in registered:
        raise Unknown(f"There is no {noun} '{printable(name)}'; choose one of: {', '.join(registered)}.")
    known = {field.name for field in fields(registered[name])}
    for option in options:
        if option not in known:
            raise BadParameter(option, f"is not an option of {noun} '{name}'.")
    return registered[name](**options)
