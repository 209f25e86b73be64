"""A workspace of the version before goes on: its tables, releases, spends and open sessions.

`version-1.zip` was written by that version: 3,000 made-up rows, a release, and sessions that were asked a few questions
each (learning, median of databases, fresh noise, from the release; one of them closed). `facts.json` in it says what
that version itself read back.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Desk
from core.base.errors import OutOfBudget, Refused
from core.kernel.allowance import Allowance
from core.kernel.query import Query
from core.sessions.kept.rows import StoredState
from core.sessions.pace import Pace
from core.sessions.session import Session

OLD_WORKSPACE = Path(__file__).parent / "old_workspace" / "version-1.zip"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with zipfile.ZipFile(OLD_WORKSPACE) as packed:
        packed.extractall(tmp_path / "workspace")
    return tmp_path / "workspace"


@pytest.fixture
def facts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "facts.json").read_text())


@pytest.fixture
def desk(folder: Path) -> Iterator[Desk]:
    desk = Desk(folder, pace=Pace(sleep=lambda seconds: None))
    yield desk
    desk.close()


def ages(number: int) -> Query:
    return Query(columns=("age",), weights=np.array([int(bit) for bit in f"{number:010b}"]), words=f"ages {number}")


def state(session: Session) -> StoredState:
    with session.file.snapshot(session.id) as turn:
        return turn.state()


def allowance(session: Session) -> str | None:
    return state(session).allowance


def offset(data: bytes) -> int | None:
    """The secret among the facts that a mechanism saved, if it is there."""
    with np.load(io.BytesIO(data)) as held:
        return json.loads(held["facts"].tobytes()).get("offset")


def test_tables_releases_and_spends_are_as_they_were(desk: Desk, facts: dict[str, Any]) -> None:
    table = desk.table(facts["table"])
    assert int(desk.truth(table).marginal(()).sum()) == 3_000
    statement = desk.statement(table)
    assert statement.spent_share == facts["spent_share"]
    assert [[entry.plan_id, entry.units] for entry in statement.entries] == facts["entries"]
    stored = desk.ledger.result(facts["release"])
    assert hashlib.sha256(stored or b"").hexdigest() == facts["bytes"]
    release = desk.result(facts["release"])
    assert release is not None
    assert hashlib.sha256(release.records().to_csv().encode()).hexdigest() == facts["records"]
    assert desk.resume() == []


def test_answers_are_as_they_were(desk: Desk, facts: dict[str, Any]) -> None:
    for known in facts["sessions"].values():
        session = desk.session(known["id"])
        assert session.status == known["status"]
        assert [answer.count for answer in session.transcript()] == known["counts"]
        assert [answer.kind for answer in session.transcript()] == known["kinds"]
        assert session.summary().left == known["left"]
        if known["status"] == "open":
            first = session.question(1)
            assert session.answer(first) == session.transcript()[0], "a question that was answered costs nothing again"


@pytest.mark.exhaustive
def test_open_sessions_go_on_within_what_they_have_left(desk: Desk, facts: dict[str, Any]) -> None:
    for name in ("learning", "median"):
        session, left = desk.session(facts["sessions"][name]["id"]), facts["sessions"][name]["left"]
        for number in range(100, 1_000, 9):
            answer = session.answer(ages(number))
            assert answer.kind == "unchecked" or answer.left == left - answer.cost
            left = answer.left
        assert allowance(session) is None or session.summary().hard > 2
    assert desk.statement(facts["table"]).spent_share == facts["spent_share"]


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("name", ["learning", "median"])
def test_secret_offsets_move_out_of_the_state_of_a_mechanism(desk: Desk, facts: dict[str, Any], name: str) -> None:
    session = desk.session(facts["sessions"][name]["id"])
    before = state(session)
    assert before.allowance is None
    secret = offset(before.data)
    assert secret is not None
    kinds = [session.answer(ages(number)).kind for number in range(1, 1_000, 3)]
    assert "hard" in kinds, "only an answer that changes something stores the new form"
    after = state(session)
    assert after.allowance is not None and offset(after.data) is None
    (run,) = json.loads(after.allowance)["runs"]
    assert run["left"] == session.summary().left
    assert run["offset"] in (secret, None) or session.budget.delta > 0, "without a delta there is one run"


def test_every_old_session_can_use_up_what_it_was_promised(desk: Desk, facts: dict[str, Any]) -> None:
    """The reserved spend of this version covers every hard answer that the old one planned."""
    session = desk.session(facts["sessions"]["fresh"]["id"])
    assert allowance(session) is None
    assert [session.answer(ages(number)).left for number in (5, 6)] == [1, 0]
    with pytest.raises(OutOfBudget, match="all its 4 questions"):
        session.answer(ages(7))
    kept = allowance(session)
    assert kept is not None
    mine = session.mechanism.cost(session.domain, session.unit)
    assert Allowance.from_json(json.loads(kept)).to_json() != Allowance(mine).to_json()


def test_a_closed_session_stays_closed_and_a_free_one_free(desk: Desk, facts: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="closed"):
        desk.session(facts["sessions"]["done"]["id"]).answer(Query(columns=("ill",), weights=np.array([1, 0])))
    free = desk.session(facts["sessions"]["free"]["id"])
    assert free.free and free.answer(ages(77)).kind == "easy"
    assert desk.statement(facts["table"]).spent_share == facts["spent_share"]


def test_a_migrated_workspace_opens_again(folder: Path, facts: dict[str, Any]) -> None:
    for expected in (1, 0):
        desk = Desk(folder, pace=Pace(sleep=lambda seconds: None))
        session = desk.session(facts["sessions"]["fresh"]["id"])
        assert session.answer(ages(9 + expected)).left == expected
        desk.close()
