"""States without an allowance: what is moved, what is left, and that nothing is drawn or lost on the way."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from core import registry
from core.kernel.allowance import Allowance
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.privacy.budget import Budget
from core.privacy.events import Gaussian
from core.privacy.unit import Unit
from core.sessions.kept.old_states import migrate
from core.table.counts import Cells
from tests.core.mechanisms.asked import CUBE, cells, questions
from tests.kernels import OpenSession, answered, opened
from tests.privacy.kit.recorder import Recorder

ROW = Unit.row()
COUNTS = Cells(CUBE, cells())
ASKED = questions(CUBE, 60)
BUDGETS = (Budget(1), Budget(1, "1e-6"))
NAMES = ("online-weights", "median-basic", "median-walk")


def mechanism(name: str, budget: Budget, **options: Any) -> Any:
    return registry.interactive_from(name, budget, {"alpha": 0.2, "questions": 60, "rows": 20_000, **options})


def as_it_was_stored(session: OpenSession, made: Any) -> bytes:
    """The bytes of the older version: the offset among the facts of the mechanism, and no name of a run."""
    with np.load(io.BytesIO(made.save(session.state))) as held:
        arrays = {name: held[name] for name in held.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    runs = session.left["runs"]
    facts["offset"] = (runs[0]["offset"] or 0) if runs else 0
    del facts["watch"]
    buffer = io.BytesIO()
    np.savez(buffer, facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)
    return buffer.getvalue()


def asked_until(made: Any, hard: int, noise: Recorder) -> OpenSession:
    session, seen = opened(made, COUNTS, noise), 0
    for question in ASKED:
        if seen == hard:
            break
        session, reply = answered(made, session, question, COUNTS, noise)
        seen += reply.kind == "hard"
    assert seen == hard
    return session


def amounts(left: dict[str, Any]) -> tuple[Any, ...]:
    """What is left, whichever way it is written."""
    pools = sum(Fraction(pool) * count for pool, count in left["pools"])
    return Fraction(left["rho"]), pools, sorted(left["single"]), left["runs"]


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=5)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hard", [0, 2])
def test_a_session_goes_on_with_its_run_and_what_its_counters_leave(name, budget, hard):
    """The allowance is the very one that the kernel would have kept, and the mechanism's state too."""
    made = mechanism(name, budget)
    session = asked_until(made, hard, Recorder(3))
    old = as_it_was_stored(session, made)
    data, allowance = migrate(old, made, CUBE, ROW)
    assert made.save(made.load(CUBE, data)) == made.save(session.state)
    assert amounts(allowance.to_json()) == amounts(session.left)
    assert b'"offset"' in old and b'"offset"' not in data


def test_a_session_without_measurements_left_compares_nothing_more():
    made = mechanism("online-median", BUDGETS[0], alpha=0.03)
    limit = made.hard_answers(CUBE, ROW)
    session = asked_until(made, limit, Recorder(1))
    data, allowance = migrate(as_it_was_stored(session, made), made, CUBE, ROW)
    left = allowance.to_json()
    assert (left["pools"], left["single"], left["rho"]) == ([], [], "0")
    assert [run["offset"] for run in left["runs"]] == [None]
    silent = Recorder(2)
    assert answered(made, OpenSession(made.load(CUBE, data), left), ASKED[-1], COUNTS, silent)[1].kind == "unchecked"
    assert not silent.calls


def test_what_was_never_compared_is_given_what_was_reserved():
    thesis = mechanism("median-walk", BUDGETS[0], constants="thesis", alpha=0.9, chains=16)
    session = opened(thesis, COUNTS, Recorder(0))
    data, allowance = migrate(as_it_was_stored(session, thesis), thesis, CUBE, ROW)
    assert thesis.load(CUBE, data).watch is None
    assert allowance.to_json() == Allowance(thesis.cost(CUBE, ROW)).to_json()

    fresh = OnlineLaplace(budget=BUDGETS[1], questions=3)
    saved = fresh.save(opened(fresh, COUNTS, Recorder(0)).state)
    data, allowance = migrate(saved, fresh, CUBE, ROW)
    assert data == saved
    allowance.take(Gaussian(sum(event.rho for event in fresh.cost(CUBE, ROW).events)))
