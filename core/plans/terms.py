"""What a spend was for, read from the text that the ledger keeps."""

from __future__ import annotations

import json

from core.ledger.ledger import Entry
from core.plans.decision_terms import DECISION, DecisionTerms
from core.plans.discovery_terms import DISCOVERY, DiscoveryTerms
from core.plans.release_terms import ReleaseTerms
from core.plans.run_once import is_void
from core.plans.session_terms import SESSION, SessionTerms

Terms = ReleaseTerms | SessionTerms | DiscoveryTerms | DecisionTerms


def read_terms(content: str) -> Terms:
    """The terms of any kind of spend; every kind but a release says what it is."""
    data = json.loads(content)
    kind = data.get("kind")
    if kind == SESSION:
        return SessionTerms.from_json(data)
    if kind == DECISION:
        return DecisionTerms.from_json(data)
    return DiscoveryTerms.from_json(data) if kind == DISCOVERY else ReleaseTerms.from_json(data)


def is_session(entry: Entry) -> bool:
    """Whether a paid plan is a session rather than a release."""
    return _kind(entry) == SESSION


def is_discovery(entry: Entry) -> bool:
    """Whether a paid plan bought suggestions for a schema."""
    return _kind(entry) == DISCOVERY


def is_decision(entry: Entry) -> bool:
    """Whether a paid plan is a decision rather than a release."""
    return _kind(entry) == DECISION


def is_release(entry: Entry) -> bool:
    """Whether a paid plan gives a release; a void one gives nothing."""
    return _kind(entry) is None and not is_void(entry)


def _kind(entry: Entry) -> str | None:
    """Only the kind: whoever sorts entries need not understand all of them."""
    kind: str | None = json.loads(entry.plan_json).get("kind")
    return kind
