"""How an answer is computed from a session's state, within what is left of its allowance."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from core.base.errors import DeskError, Failed
from core.base.unexpected import noted
from core.kernel.allowance import Allowance
from core.kernel.disjoint import DisjointQueries
from core.kernel.kernel import Kernel
from core.kernel.query import Query, Single
from core.mechanisms.kit.interactive import AnswersStatistics, AnswersTables, Interactive, Reply
from core.plans.canonical import canonical
from core.plans.run_once import NoiseWatcher
from core.privacy.noise import NoiseSource
from core.sessions.kept.rows import StoredState
from core.table.counts import Counts

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Computed:
    """What follows a question, or the groups of a table."""

    after: Any
    replies: list[Reply]
    rows: list[float | None]
    saved: StoredState | None
    """What is to be kept; nothing if nothing changed."""


def compute_replies(
    mechanism: Interactive, noise: NoiseSource, state: Any, left: str, questions: Sequence[Single], counts: Counts
) -> Computed | str:
    """The next state and the replies; after an error what was left of the allowance then.

    Such an error is not told apart from any other, because it may depend on what was drawn.
    """
    watched, allowance = NoiseWatcher(noise), Allowance.from_json(json.loads(left))

    def compute() -> Computed:
        kernel = Kernel(counts, cast(NoiseSource, watched), allowance)
        after, replies = _replies(mechanism, state, questions, kernel)
        still = written(allowance)
        same = after is state and still == left
        saved = None if same else StoredState(mechanism.save(after), still)
        return Computed(after, replies, [_rows(mechanism, after, reply) for reply in replies], saved)

    try:
        return discreetly("The answer could not be computed", compute)
    except DeskError:
        if not watched.drawn:
            raise
    return written(allowance)


def _replies(
    mechanism: Interactive, state: Any, questions: Sequence[Single], kernel: Kernel
) -> tuple[Any, list[Reply]]:
    if len(questions) > 1 and isinstance(mechanism, AnswersTables):
        groups = tuple(question for question in questions if isinstance(question, Query))
        return mechanism.answer_table(state, DisjointQueries(groups), kernel)
    [question] = questions
    if isinstance(question, Query):
        after, reply = mechanism.answer(state, question, kernel)
    else:
        assert isinstance(mechanism, AnswersStatistics)
        after, reply = mechanism.answer_statistic(state, question, kernel)
    return after, [reply]


def _rows(mechanism: Interactive, state: Any, reply: Reply) -> float | None:
    """The estimated number of rows behind a share."""
    if reply.share > 0 and reply.count > 0:
        return reply.count / reply.share
    known = mechanism.peek(state)
    return None if known is None else float(known.marginal(()).sum())


def written(allowance: Allowance) -> str:
    """What is left, as it is kept; equal where nothing was taken."""
    return canonical(allowance.to_json())


def discreetly(problem: str, work: Callable[[], Result]) -> Result:
    """A fixed sentence and the kind of error only: the text of an error may quote what is private.

    It is raised outside the handler, so that not even its context keeps the old error.
    """
    try:
        return work()
    except DeskError:
        raise
    except Exception as error:
        kind = noted(error)
    raise Failed(f"{problem} ({kind}); nothing was spent.")
