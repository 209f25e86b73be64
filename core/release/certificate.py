"""The certificate: what is promised about a release, in a form that machines and people can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.base.arrays import Columns
from core.base.errors import BadFile
from core.base.version import program_version
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.measured.measured import Measured
from core.models.protocol import Model
from core.planning.simulation.expected_error import Figure
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import query_to_json
from core.schema.domain import Domain

LONGEST = 4_000_000
"""Characters of a certificate; what is longer was not written here."""


class Certificate(BaseModel):
    """What is promised about a release; contains no exact statistic and no path."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    plan: str
    software: str
    created: str
    mechanism: str
    parameters: dict[str, Any]
    queries: list[dict[str, Any]]
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    delta: float = Field(ge=0, lt=1)
    unit: dict[str, Any]
    neighbours: str
    schema_digest: str
    synthetic_rows: int = Field(ge=0)
    expected_error: dict[str, Any]
    answers_from: str
    measured: Measured | None = None
    """Errors of the finished release, measured with noise; left out where nothing was spent on that."""
    spend: int | None = Field(default=None, ge=1)
    """Which spend of its account paid for it, the first being 1; earlier versions did not say. A workspace that lists
    fewer was put back from an older copy."""

    unlisted: list[Columns] | None = None
    """Tables that were asked for and are too large to be listed; left out where there is none."""

    doubtful: list[Columns] | None = None
    """Listed tables that are so noisy that associations in them cannot be trusted; left out where there is none."""

    copies: int | None = Field(default=None, ge=1)
    """Synthetic copies beside the records, from which intervals are made; left out where there is none."""

    rules: list[str] | None = None
    """Publicly known facts that every record keeps, as the schema declares them; left out where there is none."""

    @classmethod
    def read(cls, text: str | bytes) -> Certificate:
        """Load a certificate that may come from anywhere."""
        if len(text) > LONGEST:
            raise BadFile("The certificate is too long to be one of ours.")
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            raise BadFile("This is no certificate of Release Desk; choose certificate.json from a release.") from None

    def write(self) -> str:
        return json.dumps(self.facts(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def facts(self) -> dict[str, Any]:
        """All that it says, as plain data."""
        optional = ("measured", "spend", "unlisted", "doubtful", "copies", "rules")
        return self.model_dump(exclude={name for name in optional if getattr(self, name) is None})

    def numbered(self, spend: int) -> Certificate:
        return self.model_copy(update={"spend": spend})

    def without_tables(self, unlisted: Sequence[Columns]) -> Certificate:
        return self.model_copy(update={"unlisted": list(unlisted) or None})

    def with_doubtful(self, doubtful: Sequence[Columns]) -> Certificate:
        return self.model_copy(update={"doubtful": list(doubtful) or None})

    def with_copies(self, copies: int) -> Certificate:
        return self.model_copy(update={"copies": copies or None})

    def with_measured(self, measured: Measured) -> Certificate:
        return self.model_copy(update={"measured": measured})


def certify(
    plan: str,
    domain: Domain,
    unit: Unit,
    budget: Budget,
    mechanism: Mechanism,
    model: Model,
    rows: int,
    figure: Figure,
) -> Certificate:
    """The certificate of a finished run, from the plan, the schema, the released model and public stand-ins alone.

    `budget` is that of the whole plan; the mechanism has less where the release is measured.
    """
    own = [each.name for each in fields(mechanism) if each.name not in ("queries", "budget")]  # type: ignore[arg-type]
    return Certificate(
        plan=plan,
        software=software(),
        created=datetime.now(UTC).date().isoformat(),
        mechanism=mechanism.name,
        parameters={"title": mechanism.title, **{name: getattr(mechanism, name) for name in own}},
        queries=[query_to_json(query) for query in mechanism.queries],
        epsilon=float(budget.epsilon),
        delta=float(budget.delta),
        unit=unit.to_json(),
        neighbours=unit.sentence(),
        schema_digest=domain.digest,
        synthetic_rows=rows,
        expected_error=figure.to_json(),
        answers_from="released tables where they hold the columns, else records" if model.tables() else "records",
        rules=list(domain.rules) or None,
    )


def software() -> str:
    """What made it, with its version."""
    return f"release-desk {program_version()}"
