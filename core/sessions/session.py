"""A session: questions asked one at a time, each after seeing the answers before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar, cast

from core.base.errors import DeskError, Failed
from core.kernel.allowance import Allowance
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.kit.interactive import Interactive, Reply
from core.plans.canonical import canonical
from core.plans.run_once import NoiseWatcher
from core.privacy.budget import Budget
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain
from core.sessions.answer import Answer, SessionStatus, Summary, transcript_csv
from core.sessions.file import SessionFile, SessionRow, StoredState, Turn, now
from core.sessions.old_states import migrate
from core.sessions.pace import Pace
from core.sessions.question import SessionQuestion, question_from
from core.table.counts import Counts

Result = TypeVar("Result")
LEAST_SLOT = 0.1
"""Seconds: nobody feels a tenth of a second, and a busy machine then rarely lets an answer miss its slot."""
STORING, STORING_BYTE = 0.01, 1.2e-8
"""Seconds to commit an answer, and more for each byte of its state: twice what a small server with a busy disk took."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Session:
    """An open conversation with one table; many tabs, threads and processes may hold the same one.

    **Privacy** Everything a session can ever say was paid for when it opened: `mechanism.cost` bounds any sequence of
    questions, also one chosen after seeing the answers. What is left of that cost goes from answer to answer, also over
    restarts, and the kernel of an answer refuses whatever goes beyond it. An answer is returned only after it is stored
    together with the state that follows it (`file.py`), so what an adversary sees is one run of the mechanism, in the
    order of the replies, whatever crashes or races there were. An error after noise was drawn may tell what was drawn
    (only a hard answer learns, say), and would not be counted: it ends the session.

    The same question asked again gives the stored reply at no cost. That tells nothing new: the reply is public, and
    whether a question was asked before is known to whoever asked it. It also saves a hard answer that fresh noise
    would cost.

    An answer returns at the end of a slot of `slot` seconds (`pace.py`); a stored reply, which reads nothing
    private, returns at once.
    """

    id: str
    table: str
    """The id of the table."""
    plan_id: str
    """The paid plan behind it: its own, or that of the release it answers from."""
    mechanism: Interactive = field(repr=False)
    domain: Domain = field(repr=False)
    """The columns it is about."""
    unit: Unit
    paid: Callable[[], float] = field(repr=False)
    """What it cost, as a share of the table's total budget."""
    opened: str
    terms: dict[str, Any] = field(repr=False)
    """What it was opened with."""
    file: SessionFile = field(repr=False)
    noise: NoiseSource = field(repr=False)
    counts: Callable[[], Counts] = field(repr=False)
    pace: Pace = field(repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _seen: dict[int, tuple[Any, str]] = field(default_factory=dict, repr=False)
    """The latest state and what is left, by its version: at most one, so that an answer need not read the disk."""

    @property
    def budget(self) -> Budget:
        return self.mechanism.budget

    @property
    def status(self) -> SessionStatus:
        return self.file.row(self.id).status

    @property
    def free(self) -> bool:
        """Whether it answers from a release and never touches the table."""
        return "release" in self.terms

    @cached_property
    def slot(self) -> float:
        """Seconds that an answer takes, easy or hard, from public facts only: to compute it and to store its state."""
        computing = self.mechanism.slot(self.domain)
        if not computing:
            return 0.0
        return max(LEAST_SLOT, computing + STORING + STORING_BYTE * self.file.size(self.id))

    def answer(self, question: Query) -> Answer:
        """The released answer; a question that cannot be answered is refused before anything is spent."""
        started = self.pace.clock()
        asked = SessionQuestion.of(question, self.domain)
        stored = self.file.asked_before(self.id, asked.key)
        if stored is not None:
            return stored
        try:
            with self._lock:
                return self._take_turn(asked)
        finally:
            self.pace.pad(started, self.slot)

    def close(self) -> None:
        """Accept no more questions, for good. Nothing is refunded, because everything may have been asked."""
        self.file.close(self.id)

    def transcript(self) -> list[Answer]:
        """Every released answer, in order."""
        return self.file.replies(self.id)

    def transcript_csv(self) -> bytes:
        return transcript_csv(self.transcript())

    def question(self, number: int) -> Query:
        """The question that was answered under this number."""
        return question_from(*self.file.question(self.id, number), self.domain)

    def summary(self) -> Summary:
        tally, last = self.file.tally(self.id), self.file.last(self.id)
        limit = self.mechanism.hard_answers(self.domain, self.unit)
        return Summary(
            status=self.status,
            questions=sum(tally.values()),
            easy=tally.get("easy", 0),
            hard=tally.get("hard", 0),
            unchecked=tally.get("unchecked", 0),
            left=last.left if last else limit,
            limit=limit,
            budget=self.budget,
            budget_share=self.paid(),
            opened=self.opened,
        )

    def hypothesis(self) -> Source | None:
        """What is public about the table by now, as far as this session knows; None where it keeps nothing."""
        with self._lock, self.file.snapshot(self.id) as turn:
            return self.mechanism.peek(self._state(turn)[0])

    def _take_turn(self, asked: SessionQuestion) -> Answer:
        at, counts = now(), self.counts()
        with self.file.turn(self.id) as turn:
            stored = turn.reply(asked.key)
            if stored is not None:
                return stored
            made = self._compute(*self._state(turn), asked.query, counts)
            if made is None:
                turn.close()
            else:
                after, reply, rows, saved = made
                answer = turn.record(question=asked, at=at, reply=reply, rows=rows, state=saved)
        if made is None:
            raise Failed("The answer could not be computed, and so this session is closed; open another one.")
        # Only what is committed may be remembered.
        if saved is not None:
            assert saved.allowance is not None
            self._remember(answer.number, after, saved.allowance)
        return answer

    def _compute(
        self, state: Any, left: str, question: Query, counts: Counts
    ) -> tuple[Any, Reply, float | None, StoredState | None] | None:
        """The next state, the reply with its rows, and what is to be kept (nothing if nothing changed).

        None for an error after a draw: that error is not told apart from any other, because it may depend on the draw.
        """
        watched = NoiseWatcher(self.noise)

        def compute() -> tuple[Any, Reply, float | None, StoredState | None]:
            allowance = Allowance.from_json(json.loads(left))
            kernel = Kernel(counts, cast(NoiseSource, watched), allowance)
            after, reply = self.mechanism.answer(state, question, kernel)
            still = written(allowance)
            same = after is state and still == left
            saved = None if same else StoredState(self.mechanism.save(after), still)
            return after, reply, self._rows(after, reply), saved

        try:
            return _discreetly("The answer could not be computed", compute)
        except DeskError:
            if not watched.drawn:
                raise
        return None

    def _state(self, turn: Turn) -> tuple[Any, str]:
        """The mechanism's state and what is left of the reserved spend."""
        version = turn.row.state_version
        if version not in self._seen:
            stored = turn.state()
            state, left = _discreetly("The state of this session could not be read", lambda: self._load(stored))
            self._remember(version, state, left)
        return self._seen[version]

    def _load(self, stored: StoredState) -> tuple[Any, str]:
        data, left = stored.data, stored.allowance
        if left is None:
            data, allowance = migrate(data, self.mechanism, self.domain, self.unit)
            left = written(allowance)
        return self.mechanism.load(self.domain, data), left

    def _remember(self, version: int, state: Any, left: str) -> None:
        self._seen.clear()
        self._seen[version] = state, left

    def _rows(self, state: Any, reply: Reply) -> float | None:
        """The estimated number of rows behind a share."""
        if reply.share > 0 and reply.count > 0:
            return reply.count / reply.share
        known = self.mechanism.peek(state)
        return None if known is None else float(known.marginal(()).sum())


def written(allowance: Allowance) -> str:
    """What is left, as it is kept; equal where nothing was taken."""
    return canonical(allowance.to_json())


def _discreetly(problem: str, work: Callable[[], Result]) -> Result:
    """A fixed sentence and the kind of error only: the text of an error may quote what is private.

    It is raised outside the handler, so that not even its context keeps the old error.
    """
    try:
        return work()
    except DeskError:
        raise
    except Exception as error:
        kind = type(error).__name__
    raise Failed(f"{problem} ({kind}); nothing was spent.")


def session_of(row: SessionRow, **parts: Any) -> Session:
    """The session that a row of the file stands for."""
    return Session(
        id=row.id,
        table=row.dataset_id,
        plan_id=row.plan_id,
        opened=row.opened_at,
        terms=json.loads(row.terms_json),
        **parts,
    )
