"""What an adaptive mechanism has learnt so far: questions with their noisy values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.tables import Marginal
from core.queries.kit.question import Learnt, Question


@dataclass(frozen=True, eq=False)
class NoisyAnswer:
    """A question with its noisy value: a number, or the cells of a table."""

    question: Learnt
    value: NDArray[Any]
    sigma: float
    """Standard deviation of the noise in each number."""


def ask(kernel: Kernel, question: Question, event: Additive) -> NoisyAnswer:
    """Measure one question at the price of an event."""
    measured = kernel.measure(question, event)
    return NoisyAnswer(question, measured.values, measured.sigma)


def merged(answers: Sequence[NoisyAnswer], new: NoisyAnswer) -> list[NoisyAnswer]:
    """The answers with a new one; a table that was measured before becomes one table with less noise."""
    if not isinstance(new.question, Marginal):
        return [*answers, new]
    kept, precision, value = [], 1 / new.sigma**2, new.value / new.sigma**2
    for answer in answers:
        if answer.question == new.question:
            precision, value = precision + 1 / answer.sigma**2, value + answer.value / answer.sigma**2
        else:
            kept.append(answer)
    return [*kept, NoisyAnswer(new.question, value / precision, 1 / math.sqrt(precision))]
