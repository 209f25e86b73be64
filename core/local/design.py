"""Which randomiser for which question, and how many people for each: the smallest expected error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from core.base.errors import BadParameter
from core.local.expected import RandomiserTrial, compare, expected_error
from core.local.kinds import randomiser_from
from core.local.plan import CollectPlan
from core.local.question import LocalQuestion
from core.local.randomisers.odds_ratio import checked, ratio_below
from core.schema.domain import Domain

SHARES = 10_000
"""Weights add up to about this many: a hundredth of a percent of the people."""


@dataclass(frozen=True, kw_only=True)
class QuestionDesign:
    """One question of a plan with what is expected of it."""

    question: LocalQuestion
    people: float
    trials: tuple[RandomiserTrial, ...]
    """Every suitable randomiser, the best one first."""
    central: float
    """The same error if a trusted curator held the answers: Laplace noise on the counts, with the same epsilon."""

    @property
    def error(self) -> float:
        return next(trial.error for trial in self.trials if trial.randomiser == self.question.randomiser)

    @property
    def why(self) -> str:
        """Why the first one is recommended."""
        best = self.trials[0]
        if len(self.trials) == 1:
            return "It is the only one that suits."
        second = self.trials[1]
        return (
            f"'{best.randomiser}' is expected to be off by {100 * best.error:.2g} %, the next best, "
            f"'{second.randomiser}', by {100 * second.error:.2g} %."
        )


def plan_collection(
    domain: Domain,
    *,
    epsilon: object,
    people: int,
    questions: Iterable[LocalQuestion] = (),
    title: str = "Questionnaire",
    asked: Literal["one", "all"] = "one",
    fixed: Mapping[tuple[str, ...], str] = MappingProxyType({}),
) -> CollectPlan:
    """A plan with the recommended randomiser for every question (every column's shares if none are given).

    `fixed` names randomisers, by columns, that are chosen by hand instead.

    People are divided so that the sum of the expected errors is smallest: an error c/sqrt(n) gets people in proportion
    to c^(2/3).
    """
    wanted = list(questions) or [LocalQuestion(columns=(name,)) for name in domain.names if domain[name].size > 1]
    if not wanted:
        raise BadParameter("questions", "need a column with at least two values.")
    share = checked(epsilon) if asked == "one" else checked(epsilon) / len(wanted)
    each = people if asked == "all" else people / len(wanted)
    found = []
    for question in wanted:
        trials = compare(question, domain, ratio_below(share), each)
        by_name = {trial.randomiser: trial for trial in trials}
        chosen = by_name.get(fixed.get(question.columns, ""), trials[0])
        weight = max(1, round(1_000 * (chosen.error * math.sqrt(max(each, 1))) ** (2 / 3))) if asked == "one" else 1
        found.append(replace(question, randomiser=chosen.randomiser, weight=weight))
    return CollectPlan(
        domain=domain,
        epsilon=checked(epsilon),
        people=people,
        questions=tuple(_scaled(found)),
        title=title,
        asked=asked,
    )


def _scaled(questions: Sequence[LocalQuestion]) -> list[LocalQuestion]:
    total = sum(question.weight for question in questions)
    return [replace(each, weight=max(1, round(SHARES * each.weight / total))) for each in questions]


def expectations(plan: CollectPlan) -> tuple[QuestionDesign, ...]:
    """What is expected of every question of a plan."""
    found = []
    for place, question in enumerate(plan.questions):
        people = plan.people_of(place)
        found.append(
            QuestionDesign(
                question=question,
                people=people,
                trials=compare(question, plan.domain, plan.ratio, people),
                central=central_error(question, plan.domain, plan.epsilon / len(plan.questions), plan.people),
            )
        )
    return tuple(found)


def central_error(question: LocalQuestion, domain: Domain, epsilon: Fraction, people: int) -> float:
    """With a trusted curator, who asks everybody everything and shares epsilon among the questions.

    A count gets Laplace noise of mean size 1/epsilon and a mean one draw of it. A range is a sum of about 2L blocks of
    a binary tree of L levels, each of which gets epsilon/L: a deviation of 2 L^(3/2)/epsilon, on average four fifths.
    """
    noise = 1 / (float(epsilon) * max(people, 1))
    if question.wanted == "mean":
        return noise
    values = question.values(domain)
    if question.wanted == "ranges":
        return min(1.0, 1.6 * noise * math.log2(max(values, 2)) ** 1.5)
    return min(1.0, values * noise / 2)


def people_needed(plan: CollectPlan, place: int, error: float) -> int | None:
    """How many must answer in all so that a question's expected error is at most this; None if no number is enough."""
    if not 0 < error < 1:
        raise BadParameter("error", "must be above 0 and below 1.")
    question = plan.questions[place]
    randomiser = randomiser_from(question.randomiser, question.values(plan.domain), plan.ratio)
    part = plan.people_of(place) / plan.people

    def enough(people: float) -> bool:
        tries = [expected_error(question, plan.domain, randomiser, people) for _ in range(3)]
        return sum(tries) / len(tries) <= error

    low, high = 1.0, 100.0
    while not enough(high):
        low, high = high, 4 * high
        if high > 1e12:
            return None
    while high > 1.1 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return math.ceil(high / part)
