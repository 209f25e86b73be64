"""A question as a session keeps it: one spelling for every way to write the same weights."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass

import numpy as np

from core.base.errors import BadParameter, Refused, printable
from core.kernel.query import Query
from core.plans.canonical import canonical
from core.schema.domain import Domain

LONGEST_WORDS = 2_000


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionQuestion:
    """A checked question with its columns in the order of the schema and its weights in lowest terms."""

    query: Query
    key: str
    """Equal for equal questions, whatever words they are asked in."""
    facts: str
    """Columns and denominator, as JSON."""
    weights: bytes
    """The weights, compressed; `question_from` reads them back."""

    @classmethod
    def of(cls, query: Query, domain: Domain) -> SessionQuestion:
        """Refuse, before anything is spent, what this schema cannot answer."""
        if not isinstance(query, Query):
            raise BadParameter("question", "must be a question about the table's columns, such as a condition.")
        if len(set(query.columns)) != len(query.columns):
            raise BadParameter("question", "names a column twice; each column may be named once.")
        for name in query.columns:
            if name not in domain:
                known = ", ".join(printable(known) for known in domain.names[:12])
                more = " and others" if len(domain) > 12 else ""
                raise Refused(f"The question uses column '{printable(name)}'; this session is about {known}{more}.")
        if query.weights.shape != domain.shape(query.columns):
            raise BadParameter("question", "has weights of another shape than the schema's columns.")
        if not query.weights.any():
            raise Refused("No possible record fits this condition, so the answer is 0 without asking; change it.")
        settled = _settled(query, domain)
        size = np.min_scalar_type(settled.denominator).newbyteorder("<")
        raw = np.ascontiguousarray(settled.weights, dtype=size).tobytes()
        facts = canonical({"columns": settled.columns, "denominator": settled.denominator, "type": size.str})
        key = hashlib.sha256(facts.encode() + b"\0" + raw).hexdigest()
        return cls(query=settled, key=key, facts=facts, weights=zlib.compress(raw, 1))


def question_from(facts: str, weights: bytes, words: str, domain: Domain) -> Query:
    """The question that was kept."""
    known = json.loads(facts)
    values = np.frombuffer(zlib.decompress(weights), dtype=known["type"]).astype(np.int64)
    columns = tuple(known["columns"])
    return Query(
        columns=columns, weights=values.reshape(domain.shape(columns)), denominator=known["denominator"], words=words
    )


def _settled(query: Query, domain: Domain) -> Query:
    ordered = tuple(name for name in domain.names if name in query.columns)
    weights = query.weights.transpose([query.columns.index(name) for name in ordered])
    common = 1
    if query.denominator > 1:
        common = int(np.gcd(np.gcd.reduce(weights, axis=None), query.denominator))
    words = printable(query.words, LONGEST_WORDS) or f"Weights over {', '.join(ordered) or 'all rows'}"
    return Query(
        columns=ordered,
        weights=weights // common if common > 1 else weights,
        denominator=query.denominator // common,
        words=words,
    )
