"""The iterative construction (G algorithm 8): choose a mistake, measure it, let the hypothesis learn from it.

The loop knows neither the model nor the learning rule nor the query class. It asks the distinguisher for a question,
measures it, and hands question and value to the update; only those two look inside the hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from core.kernel.kernel import Kernel
from core.mechanisms.iterative.distinguish import Distinguisher
from core.mechanisms.kit.answers import NoisyAnswer, ask, merged
from core.mechanisms.kit.protocol import Progress, silent
from core.mechanisms.kit.schedule import Schedule
from core.models.fitting.consistency import total_of
from core.models.fitting.updates import Update
from core.queries.kit.protocol import Source
from core.queries.kit.question import total_on

H = TypeVar("H", bound=Source)
SLACK = 1.0
"""Standard deviations by which a measured value may be missed: fitting closer would fit the noise."""


def construct(
    kernel: Kernel,
    *,
    update: Update[H],
    distinguisher: Distinguisher,
    schedule: Schedule,
    stop: float | None = None,
    replay: int = 0,
    slack: float = SLACK,
    progress: Progress = silent,
) -> H:
    """The last hypothesis of a sequence of updates.

    With `stop` set to alpha, the run ends as soon as a measured value is within 3 alpha/4 (as a share of the rows) of
    the hypothesis. `replay` is how often all past answers are applied again after each new one.
    """
    progress("Measuring the first tables", 0.0)
    answers = [ask(kernel, portion.asked, portion.event) for portion in schedule.opening]
    rows = rows_from(answers, kernel.public_rows)
    answers = [answer for answer in answers if answer.question.columns]
    hypothesis = relearned(update, update.start(kernel.domain, rows), answers, max(1, replay), slack)
    for done in range(schedule.rounds):
        progress("Choosing and measuring", done / schedule.rounds)
        question = distinguisher.choose(kernel, hypothesis, schedule.choosing)
        answer = ask(kernel, question, schedule.asking)
        if stop is not None:
            gap = abs(float(answer.value) - float(total_on(question, hypothesis)))
            if gap < 0.75 * stop * rows * question.denominator:
                break
        answers = merged(answers, answer)
        hypothesis = relearned(update, hypothesis, answers[-1:], 1, slack)
        hypothesis = relearned(update, hypothesis, answers, replay, slack)
    return hypothesis


def rows_from(answers: Sequence[NoisyAnswer], public: int | None) -> float:
    """The number of rows: public, or the sums of the first tables weighted by inverse variance; at least one."""
    tables = {answer.question.columns: answer.value for answer in answers}
    sigmas = {answer.question.columns: answer.sigma for answer in answers}
    return max(1.0, total_of(tables, sigmas, public))


def relearned(update: Update[H], hypothesis: H, answers: Sequence[NoisyAnswer], sweeps: int, slack: float) -> H:
    """The hypothesis after the answers were applied in turn, the newest last, some times over."""
    for _ in range(sweeps):
        for answer in answers:
            hypothesis = update.apply(hypothesis, answer.question, answer.value, slack * answer.sigma)
    return hypothesis
