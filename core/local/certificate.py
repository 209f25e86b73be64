"""What is promised to everybody who answers, in a form that machines and people can read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.base.version import program_version
from core.local.plan import CollectPlan
from core.local.reports import CollectedReports

PROMISE = (
    "Every report was randomised by the person who sent it. Whatever else is known, it changes the odds between any "
    "two answers of that person by a factor of at most e^epsilon; nobody, the curator included, holds the answers."
)


class LocalCertificate(BaseModel):
    """The promise of a collection; it holds for each person, with delta 0."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    model: Literal["local model, epsilon per person"] = "local model, epsilon per person"
    plan: str
    title: str
    software: str
    created: str
    epsilon: float = Field(gt=0)
    delta: Literal[0] = 0
    asked: Literal["one", "all"]
    promise: str
    questions: list[dict[str, Any]]
    schema_digest: str
    reports: int = Field(ge=0)
    left_out: dict[str, int]
    assumed_liars: float = Field(ge=0, lt=1)

    def write(self) -> str:
        return json.dumps(self.model_dump(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def certify_reports(plan: CollectPlan, collected: CollectedReports, liars: float) -> LocalCertificate:
    """The certificate of the estimates from these reports."""
    return LocalCertificate(
        plan=plan.id,
        title=plan.title,
        software=f"release-desk {program_version()}",
        created=datetime.now(UTC).date().isoformat(),
        epsilon=float(plan.epsilon),
        asked=plan.asked,
        promise=PROMISE,
        questions=[
            {
                "columns": list(question.columns),
                "wanted": question.wanted,
                "randomiser": question.randomiser,
                "epsilon": float(plan.part),
                "likeliest_to_unlikeliest": str(randomiser.ratio),
                "reports": len(reports),
            }
            for question, randomiser, reports in zip(plan.questions, plan.randomisers, collected.reports, strict=True)
        ],
        schema_digest=plan.domain.digest,
        reports=collected.people,
        left_out={
            "malformed": collected.malformed,
            "duplicated": collected.duplicated,
            "foreign": collected.foreign,
        },
        assumed_liars=liars,
    )
