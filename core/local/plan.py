"""A plan to collect: the questions, epsilon per person and who is asked what. It is public and names itself.

Nothing about people is in it. The questionnaire carries it, and every report says by its id which plan it belongs to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from core.base.errors import BadFile, BadParameter, DeskError, printable
from core.local.kinds import randomiser_from
from core.local.question import LocalQuestion
from core.local.randomisers.odds_ratio import checked, ratio_below
from core.local.randomisers.protocol import Randomiser
from core.schema.domain import Domain

FORMAT = 1
MOST_QUESTIONS = 200
LONGEST = 64_000_000


@dataclass(frozen=True, kw_only=True)
class CollectPlan:
    """Questions about the columns of a public schema, and the promise to each person.

    `asked` is 'one': each device draws one question, by the weights and without looking at any answer, and uses the
    whole epsilon for it; or 'all': every question is answered with an equal part of epsilon. Both keep epsilon per
    person; with several questions one is far more exact, because errors grow with 1/epsilon but with 1/sqrt(people).
    """

    domain: Domain
    epsilon: Fraction
    people: int
    """How many are expected to answer; only expected errors depend on it."""
    questions: tuple[LocalQuestion, ...]
    title: str = "Questionnaire"
    asked: Literal["one", "all"] = "one"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked(self.epsilon))
        object.__setattr__(self, "questions", tuple(self.questions))
        if isinstance(self.people, bool) or not isinstance(self.people, int) or not 1 <= self.people <= 10**12:
            raise BadParameter("people", "must be a whole number of at least 1.")
        if not 1 <= len(self.questions) <= MOST_QUESTIONS:
            raise BadParameter("questions", f"must be from 1 to {MOST_QUESTIONS} questions.")
        if self.asked not in ("one", "all"):
            raise BadParameter("asked", "must be 'one' or 'all'.")
        if not isinstance(self.title, str) or not 1 <= len(self.title.strip()) <= 200:
            raise BadParameter("title", "must have 1 to 200 characters.")
        for question in self.questions:
            question.check(self.domain)
        seen = [question.columns for question in self.questions]
        if len(set(seen)) < len(seen):
            raise BadParameter("questions", "ask about the same columns twice; keep one of them.")
        checked(self.part)

    @property
    def part(self) -> Fraction:
        """Epsilon of one answer."""
        return self.epsilon if self.asked == "one" else self.epsilon / len(self.questions)

    @property
    def ratio(self) -> Fraction:
        return ratio_below(self.part)

    @cached_property
    def randomisers(self) -> tuple[Randomiser, ...]:
        return tuple(randomiser_from(each.randomiser, each.values(self.domain), self.ratio) for each in self.questions)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        return tuple(question.weight for question in self.questions)

    def people_of(self, place: int) -> float:
        """How many people are expected to answer a question."""
        return self.people if self.asked == "all" else self.people * self.weights[place] / sum(self.weights)

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that name exactly this plan."""
        return hashlib.sha256(json.dumps(self._facts(), sort_keys=True).encode()).hexdigest()[:12]

    def _facts(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "title": self.title,
            "epsilon": str(self.epsilon),
            "people": self.people,
            "asked": self.asked,
            "columns": self.domain.to_list(),
            "questions": [
                {
                    "columns": list(each.columns), "wanted": each.wanted, "smooth": each.smooth,
                    "randomiser": each.randomiser, "weight": each.weight,
                }
                for each in self.questions
            ],
        }  # fmt: skip

    def to_json(self) -> str:
        return json.dumps({"plan": self.id, **self._facts()}, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> CollectPlan:
        """A plan that may come from anywhere; it must be one of ours, unchanged."""
        try:
            if len(text) > LONGEST:
                raise ValueError
            data = json.loads(text)
            if not isinstance(data, Mapping) or data.get("format") != FORMAT:
                raise ValueError
            plan = cls(
                domain=Domain.from_list(data["columns"]),
                epsilon=Fraction(str(data["epsilon"])),
                people=data["people"],
                questions=_questions(data["questions"]),
                title=data["title"],
                asked=data["asked"],
            )
        except (ValueError, KeyError, TypeError, ZeroDivisionError, RecursionError):
            raise BadFile("This is no plan of the page Collect; choose the plan.json that was saved there.") from None
        except DeskError as problem:
            raise BadFile(f"The plan cannot be used: {problem}") from None
        if data.get("plan") != plan.id:
            raise BadFile("The plan was changed after it was saved; use the original file.")
        return plan


def _questions(listed: Sequence[Mapping[str, Any]]) -> tuple[LocalQuestion, ...]:
    return tuple(LocalQuestion(**{**each, "columns": tuple(each["columns"])}) for each in listed)


def described(question: LocalQuestion) -> str:
    """A question by its columns, safe for one line of text."""
    return " × ".join(printable(name, 40) for name in question.columns)
