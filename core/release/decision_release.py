"""A finished decision as one ZIP that never changes: the decision as JSON and CSV, and its certificate."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import pandas as pd

from core.base.errors import BadFile
from core.decisions.decision import Decided, Decision
from core.plans.decision_terms import DecisionTerms
from core.privacy.unit import Unit
from core.release.certificate import software
from core.release.files.archive import zipped
from core.release.files.spreadsheet import to_csv
from core.schema.domain import Domain

FORMAT = 1
ABOUT = """This decision was made with differential privacy.

decision.json     the decision, and what it costs as measured with noise
decision.csv      the same as a table
certificate.json  what is promised, and how it was made
schema.json       the public schema of the table
"""


@dataclass(frozen=True, eq=False)
class DecisionRelease:
    """A decision, read from its stored bytes; `zip()` returns exactly those bytes. Everything in it is public."""

    stored: bytes

    @classmethod
    def pack(
        cls, decided: Decided, decision: Decision, terms: DecisionTerms, domain: Domain, unit: Unit, spend: int
    ) -> DecisionRelease:
        """Sealed from the plan, the schema and what was decided; `spend` is which one of its account it was."""
        certificate = {
            "format": FORMAT,
            "plan": terms.id,
            "software": software(),
            "created": datetime.now(UTC).date().isoformat(),
            "problem": decision.problem,
            "mechanism": decision.name,
            "title": decision.title,
            "public": dict(terms.public),
            "epsilon": float(terms.budget.epsilon),
            "delta": float(terms.budget.delta),
            "unit": unit.to_json(),
            "neighbours": unit.sentence(),
            "schema_digest": domain.digest,
            "guarantee": decision.guarantee(domain, unit),
            "spend": spend,
        }
        members = {
            "README.txt": ABOUT.encode(),
            "decision.json": _written(decided.to_json()),
            "decision.csv": to_csv(pd.DataFrame(list(decided.lines))),
            "certificate.json": _written(certificate),
            "schema.json": domain.to_json().encode(),
        }
        return cls(zipped(members))

    def zip(self) -> bytes:
        return self.stored

    def json(self) -> bytes:
        return self._read("decision.json")

    def csv(self) -> bytes:
        return self._read("decision.csv")

    def certificate_json(self) -> bytes:
        return self._read("certificate.json")

    @cached_property
    def decided(self) -> Decided:
        return Decided.from_json(json.loads(self.json()))

    @cached_property
    def certificate(self) -> Mapping[str, Any]:
        """All that is promised, as plain data."""
        found: dict[str, Any] = json.loads(self.certificate_json())
        return found

    @cached_property
    def domain(self) -> Domain:
        return Domain.from_json(self._read("schema.json").decode())

    def lines(self) -> pd.DataFrame:
        """The decision as a table."""
        return pd.DataFrame([dict(line) for line in self.decided.lines])

    def _read(self, member: str) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(self.stored)) as archive:
                return archive.read(member)
        except (KeyError, zipfile.BadZipFile):
            raise BadFile("This is no decision of Release Desk.") from None


def _written(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()
