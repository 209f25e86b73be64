"""A question as a session keeps it: one spelling for every way to write the same weights."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.errors import BadParameter, Refused, printable
from core.kernel.query import Query, Single, Statistic
from core.mechanisms.kit.interactive import AnswersStatistics, Interactive
from core.plans.canonical import canonical
from core.queries.lipschitz import Lipschitz
from core.registry import query_from_json, query_to_json
from core.schema.domain import Domain

LONGEST_WORDS = 2_000


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionQuestion:
    """A checked question with its columns in the order of the schema and its weights in lowest terms."""

    query: Single
    words: str
    """As it is asked, for people."""
    key: str
    """Equal for equal questions, whatever words they are asked in."""
    facts: str
    """Columns and denominator, as JSON; of a statistic its class and its place in it."""
    weights: bytes
    """The weights, compressed; `question_from` reads them back."""

    @classmethod
    def of(cls, query: Single, domain: Domain) -> SessionQuestion:
        """Refuse, before anything is spent, what this schema cannot answer."""
        if isinstance(query, Statistic) and isinstance(query.query, Lipschitz):
            return cls._of_statistic(query.query, query.index, domain)
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
        return cls(query=settled, words=settled.words, key=key, facts=facts, weights=zlib.compress(raw, 1))

    @classmethod
    def _of_statistic(cls, query: Lipschitz, place: int, domain: Domain) -> SessionQuestion:
        settled, facts = query.statistic(domain, place), canonical({"class": query_to_json(query), "place": place})
        key = hashlib.sha256(facts.encode()).hexdigest()
        words = printable(query.words(domain, place), LONGEST_WORDS)
        return cls(query=settled, words=words, key=key, facts=facts, weights=b"")


def question_from(facts: str, weights: bytes, words: str, domain: Domain) -> Single:
    """The question that was kept."""
    known = json.loads(facts)
    if "class" in known:
        asked = query_from_json(known["class"])
        assert isinstance(asked, Lipschitz)
        return asked.statistic(domain, known["place"])
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


def has_statistics(questions: Sequence[Single], mechanism: Interactive) -> bool:
    """Whether there are some that are not sums over the rows; refused where the mechanism answers none."""
    found = any(isinstance(question, Statistic) for question in questions)
    if found and not isinstance(mechanism, AnswersStatistics):
        raise Refused(f"'{mechanism.name}' answers sums over the rows only; 'online-median' also statistics.")
    return found
