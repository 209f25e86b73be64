"""A run on a table and again, with the same answers, on a neighbour."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np

from core.kernel.query import Query
from core.table.counts import Cells
from tests.kernels import answered, opened, run
from tests.privacy.kit.recorder import Call, Recorder

Steps = list[tuple[Call, Call]]


def on_both(mechanism: Any, first: Cells, second: Cells, seed: int) -> tuple[Steps, Any, Any]:
    """The calls for noise in pairs, and what was released on each table."""
    recorded = Recorder(seed)
    one = run(mechanism, first, recorded)
    replayed = Recorder(seed, recorded.calls)
    two = run(mechanism, second, replayed)
    return paired(recorded, replayed), one, two


def session_on_both(
    mechanism: Any, first: Cells, second: Cells, asked: Sequence[Query], seed: int
) -> tuple[Steps, Any, Any]:
    """The same for a session: what was released is its replies, and the state it leaves."""
    recorded = Recorder(seed)
    one = _played(mechanism, first, asked, recorded)
    replayed = Recorder(seed, recorded.calls)
    two = _played(mechanism, second, asked, replayed)
    return paired(recorded, replayed), one, two


def _played(mechanism: Any, counts: Cells, asked: Sequence[Query], noise: Recorder) -> tuple[list[Any], bytes]:
    session, replies = opened(mechanism, counts, noise), []
    for question in asked:
        session, reply = answered(mechanism, session, question, counts, noise)
        replies.append(reply)
    return replies, mechanism.save(session.state)


def paired(recorded: Recorder, replayed: Recorder) -> Steps:
    assert len(recorded.calls) == len(replayed.calls) > 0, "the neighbour asked for less noise"
    return list(zip(recorded.calls, replayed.calls, strict=True))


class Ended(Exception):
    """Everything on a script was asked; what follows is post-processing."""


class Stopping(Recorder):
    """Ends a run with the last step of its script."""

    def _note(self, kind: str, *parts: Any) -> Any:
        answer = super()._note(kind, *parts)
        if len(self.calls) == len(self._script):
            raise Ended
        return answer


def steps_of(mechanism: Any, counts: Cells, seed: int, script: Sequence[Call]) -> list[Call]:
    """The calls for noise on a table, given the answers of another one; it must ask the same."""
    noise = Stopping(seed, script)
    with suppress(Ended):
        run(mechanism, counts, noise)
    assert [(call.kind, call.amount, call.sensitivity) for call in noise.calls] == [
        (call.kind, call.amount, call.sensitivity) for call in script
    ], "the steps depend on the table"
    return noise.calls


def check_steps(steps: Steps) -> float:
    """Same steps, hidden values within the declared sensitivity; gives the largest share of it that was used."""
    for before, after in steps:
        assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
        assert before.hidden.shape == after.hidden.shape
        assert before.distance(after) <= before.sensitivity, "the declared sensitivity is too small"
    return max(before.distance(after) / before.sensitivity for before, after in steps)


def check_released(one: Any, two: Any) -> None:
    """Two models must be the same to the last bit."""
    assert one.total == two.total
    assert one.tables().keys() == two.tables().keys()
    names = one.domain.names
    for columns in ((), *combinations(names, 1), *combinations(names, 2)):
        assert np.array_equal(one.marginal(columns), two.marginal(columns))
    drawn = [model.sample(7, np.random.default_rng(0)) for model in (one, two)]
    assert drawn[0].shape == (7, len(names))
    assert np.array_equal(*drawn)


def check_runs(calls: Sequence[Call]) -> None:
    """Every sparse vector is used as it was proven: its own offset, its prices, and no more above than its cutoff."""
    offset, above = None, 0
    for call in calls:
        if call.mark is None:
            continue
        run = call.mark.run
        if call.mark.use == "offset":
            assert call.amount == run.threshold_epsilon
            offset, above = int(call.answer[0]), 0
            continue
        assert call.amount == run.comparing_epsilon / (2 * run.cutoff)
        assert call.mark.offset == offset, "a comparison must use the offset of its run"
        above += int(call.answer[0]) >= call.mark.threshold + call.mark.offset
        assert above <= run.cutoff, "a run goes on beyond its cutoff"
