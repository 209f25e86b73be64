"""The certificate: what is promised about a release, in a form that machines and people can read."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.base.errors import BadFile
from core.mechanisms.kit.protocol import Mechanism
from core.models.protocol import Model
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
        return json.dumps(self.model_dump(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def certify(plan: str, domain: Domain, unit: Unit, mechanism: Mechanism, model: Model, rows: int) -> Certificate:
    """The certificate of a finished run, from the plan, the schema and the released model alone."""
    budget = mechanism.budget
    own = [each.name for each in fields(mechanism) if each.name not in ("queries", "budget")]  # type: ignore[arg-type]
    return Certificate(
        plan=plan,
        software=f"release-desk {_version()}",
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
        expected_error=asdict(mechanism.expected(model.domain, unit)),
        answers_from="released tables where they hold the columns, else records" if model.tables() else "records",
    )


def _version() -> str:
    try:
        return version("release-desk")
    except PackageNotFoundError:
        return "from source"
