"""Which rules apply to a release, and how a mechanism meets each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.mechanisms.kit.protocol import Mechanism
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.rules.contradictions import check_rules
from core.schema.domain import Domain

BUILT_IN = "part of the model: answers become more exact"
AFTERWARDS = "records and tables are made to keep it afterwards"
NOT_ASKED = "columns that nothing is asked about are drawn so that it holds"


@dataclass(frozen=True, kw_only=True)
class ToldRule:
    """One rule of a release."""

    text: str
    words: str
    how: str


def tell_rules(domain: Domain, queries: Sequence[QueryClass], mechanism: type[Mechanism]) -> list[ToldRule]:
    """The rules of a schema, as they apply to these questions."""
    rules = check_rules(domain)
    seen = set(asked_columns(queries, domain).rules) if rules else set()
    used = BUILT_IN if getattr(mechanism, "uses_rules", False) else AFTERWARDS
    return [
        ToldRule(text=text, words=words, how=used if text in seen else NOT_ASKED) for text, words in rules.sentences()
    ]
