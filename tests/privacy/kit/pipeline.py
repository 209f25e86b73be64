"""Record and replay of the whole way: source -> table -> desk -> mechanism -> what is published.

A desk takes in a table and publishes, with noise that is written down; another desk takes in a neighbour and gets the
same answers. Then everything that leaves the second desk must be the same to the last byte, its steps must hide values
within the declared sensitivity of the *registered* unit, and the noise that was drawn must cost no more than the ledger
charged. Only the desk's own door and the one object that draws are used: whatever lies between is what is tested.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core import Budget, Desk, Domain, Unit
from core.base.errors import DeskError
from core.kernel.query import Query
from core.ledger.durable_file import KeptFile
from core.plans.statements import DeskTable
from core.privacy.noise import Noise
from core.privacy.privacy_filter import Amounts, Filters
from core.sessions.pace import Pace
from core.table.contribution_limit import RowKeys
from tests.privacy.kit.recorder import Call, Recorder
from tests.privacy.kit.replay import check_runs, check_steps, paired
from tests.privacy.kit.sources import DOMAIN, FORMATS, Place, Row, Writer, neighbours

DRAWS = ("laplace", "gaussian", "cube", "select", "select_pair", "keys", "generator")
"""Everything that code inside the desk can ask of `Noise` and uses."""


class Answers(Recorder):
    """A recorder for all that a desk draws."""

    def __init__(self, seed: int, script: Sequence[Call] = (), place: Place = "last") -> None:
        super().__init__(seed, script)
        self._place, self._words, self.problem = place, 0, None

    def keys(self, count: int) -> np.ndarray:
        """Fresh words each time."""
        self._words += 1
        return np.random.default_rng((self._seed, self._words)).integers(1, 2**63, count).astype(np.uint64)

    def counted(self, places: np.ndarray) -> np.ndarray:
        """Places of rows, counted so that the rows that two neighbours share have the same, wherever others stand."""
        return places.max(initial=0) - places if self._place == "first" else places

    def _note(self, *parts: Any) -> Any:
        try:
            return super()._note(*parts)
        except AssertionError as problem:
            # The desk tells no error apart from another, so what was wrong is kept for the test.
            self.problem = problem
            raise


@contextmanager
def answered_by(answers: Any) -> Iterator[None]:
    """Whoever draws in here is answered by a recorder."""
    with pytest.MonkeyPatch.context() as patch:
        for name in DRAWS:
            patch.setattr(Noise, name, lambda self, *values, _name=name, **how: getattr(answers, _name)(*values, **how))
        if isinstance(answers, Answers):
            made = RowKeys.at
            patch.setattr(RowKeys, "at", lambda self, places: made(self, answers.counted(places)))
        # A method that a recorder lacks must not be drawn in earnest.
        patch.setattr(Noise, "coin", None)
        # The certificate tells the day, which may change between two runs.
        patch.setattr(
            "core.release.certificate.datetime", SimpleNamespace(now=lambda zone: datetime(2024, 1, 1, tzinfo=UTC))
        )
        yield


class Lent:
    """A connection to a ledger that is not closed but given back."""

    def __init__(self, connection: Any, idle: list[Any]) -> None:
        self._connection, self._idle = connection, idle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def close(self) -> None:
        if self._connection.in_transaction:
            self._connection.rollback()
        self._idle.append(self._connection)


@contextmanager
def lent_connections() -> Iterator[None]:
    """Ledgers use their connections again: opening one takes longer than what is done with it.

    Each is used by one call at a time and has no transaction open when the next one gets it, so what a ledger reads and
    writes is the same; that every call has its own is tested in `tests/core/ledger`.
    """
    made, idle = KeptFile.connect, dict[Path, list[Any]]()

    def lend(file: KeptFile) -> Any:
        waiting = idle.setdefault(file.path, [])
        return Lent(waiting.pop() if waiting else made(file), waiting)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptFile, "connect", lend)
        yield
    for connection in (each for waiting in idle.values() for each in waiting):
        connection.close()


@dataclass(frozen=True)
class Registered:
    """What a table is registered with, and the part of its budget that each step of a way gets."""

    domain: Domain
    unit: Unit
    total: Budget
    part: Budget


@dataclass(frozen=True)
class Pair:
    """The rows of two neighbouring tables, and who writes them down as a source."""

    domain: Domain
    first: list[Row]
    second: list[Row]
    write: Writer
    place: Place
    """Where the rows stand by which they differ."""


Step = Callable[[Desk, Any, Registered], tuple[Any, ...]]
"""Something that a curator does with a source; gives everything that is public afterwards."""


def release(mechanism: str, queries: Sequence[Any], options: Mapping[str, Any]) -> Step:
    """A table, a plan, and the ZIP."""

    def go(desk: Desk, source: Any, held: Registered) -> tuple[Any, ...]:
        plan = desk.plan(_table(desk, source, held), queries, mechanism=mechanism, budget=held.part, **options)
        return plan.id, plan.units, plan.cost, plan.expected_error, desk.release(plan).zip()

    return go


def session(mechanism: str, questions: Sequence[Query], columns: Sequence[str], options: Mapping[str, Any]) -> Step:
    """A table, a session, and its answers with the state they leave."""

    def go(desk: Desk, source: Any, held: Registered) -> tuple[Any, ...]:
        table = _table(desk, source, held)
        opened = desk.ask(table, mechanism=mechanism, budget=held.part, columns=columns, **options)
        answers = tuple(replace(opened.answer(question), at="") for question in questions)
        with opened.file.snapshot(opened.id) as turn:
            state = turn.state()
        return opened.id, answers, replace(opened.summary(), opened=""), state

    return go


def discovery(columns: Mapping[str, Any]) -> Step:
    """Suggestions for a schema, bought before there is one; then the table is added to the same account."""

    def go(desk: Desk, source: Any, held: Registered) -> tuple[Any, ...]:
        found = desk.discover(source, columns, unit=held.unit, total=held.total, part=held.part)
        _table(desk, source, held)
        return (found,)

    return go


def _table(desk: Desk, source: Any, held: Registered) -> DeskTable:
    """The table of the source, which is taken in by whichever step needs it first."""
    known = next(iter(desk.tables()), None)
    return known or desk.add_table(source, held.domain, unit=held.unit, budget=held.total, name="people")


@dataclass(frozen=True)
class Done:
    """One step: what left the desk by it, what the ledger charged for it, and up to which call it drew."""

    published: tuple[Any, ...]
    charged: Amounts
    calls: int


def replayed(
    steps: Sequence[Step],
    unit: Unit,
    part: Budget,
    *,
    form: str = "frame",
    place: Place = "last",
    odd: int = 0,
    seed: int = 1,
) -> float:
    """Goes the way on both tables and checks it; gives the largest share of a declared sensitivity that was used."""
    pair = Pair(DOMAIN, *neighbours(unit, place, odd), FORMATS[form], place)
    return replayed_on(pair, steps, unit, part, seed)


def replayed_on(pair: Pair, steps: Sequence[Step], unit: Unit, part: Budget, seed: int = 1) -> float:
    """The same for any two tables."""
    held = Registered(pair.domain, unit, Budget(len(steps) * part.epsilon, part.delta), part)
    recorded = Answers(seed, place=pair.place)
    one = _gone(steps, recorded, pair.first, pair.write, held)
    again = Answers(seed, recorded.calls, pair.place)
    try:
        two = _gone(steps, again, pair.second, pair.write, held)
    except DeskError as problem:
        raise again.problem or AssertionError(f"the neighbour ended otherwise: {problem}") from None
    reached = check_steps(paired(recorded, again))
    assert one == two, "what is published must follow from the answers of the noise alone"
    check_runs(recorded.calls)
    check_charged(recorded.calls, one, Filters.of(held.total))
    return reached


def check_charged(calls: Sequence[Call], way: Sequence[Done], filters: Filters) -> None:
    """The noise that a step drew costs no more than what the ledger charged for it."""
    start = 0
    for step in way:
        drawn = filters.amounts(Recorder.priced(calls[start : step.calls]))
        assert drawn.keys() == step.charged.keys()
        for way_of_adding, paid in step.charged.items():
            taken = drawn[way_of_adding]
            assert paid is None or (taken is not None and 0 < taken <= paid), "more was drawn than was paid for"
        start = step.calls
    assert start == len(calls)


def _gone(steps: Sequence[Step], answers: Answers, rows: list[Row], write: Writer, held: Registered) -> list[Done]:
    way, known = [], 0
    with TemporaryDirectory() as folder, answered_by(answers), lent_connections():
        desk = Desk(Path(folder) / "desk", pace=Pace(sleep=lambda _: None))
        source = write(rows, Path(folder))
        try:
            for step in steps:
                published = step(desk, source, held)
                [table] = desk.tables()
                entries = desk.statement(table).entries
                [paid] = [json.loads(entry.amounts) for entry in entries[: len(entries) - known]]
                known = len(entries)
                way.append(Done(published, paid, len(answers.calls)))
        finally:
            desk.close()
    return way
