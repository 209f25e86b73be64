"""A session: questions asked one at a time, each after seeing the answers before it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event, Lock
from typing import Any

from core.base.errors import CannotGoOn, DeskError, Failed, Refused
from core.kernel.query import Query, Single
from core.mechanisms.kit.interactive import AnswersStatistics, AnswersTables, Interactive, Walks
from core.models.polytope.mixing import Mixing
from core.privacy.budget import Budget
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain
from core.sessions.answer import Answer, SessionStatus, Summary, transcript_csv
from core.sessions.computing import compute_replies, discreetly, written
from core.sessions.counts_in_memory import counting_seconds, fits_in_memory
from core.sessions.kept.file import SessionFile
from core.sessions.kept.old_states import migrate
from core.sessions.kept.rows import SessionRow, StoredState
from core.sessions.kept.turn import Turn, now
from core.sessions.pace import Pace
from core.sessions.question import SessionQuestion, has_statistics, question_from
from core.sessions.select_answer import SelectAnswer, SelectPrice, answer_select, price_select
from core.sessions.session_limits import MOST_ANSWERS
from core.sessions.settlement import Settlement
from core.table.counts import Counts

LEAST_SLOT = 0.1
"""Seconds: nobody feels a tenth of a second, and a busy machine then rarely lets an answer miss its slot."""
GROUP, GROUP_CELL = 0.001, 2e-8
"""Seconds for each further group of a table that is asked at once, and for each of its combinations."""
STORING, STORING_BYTE = 0.01, 1.2e-8
"""Seconds to commit an answer, and more for each byte of its state: twice what a small server with a busy disk took."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Session:
    """An open conversation with one table; many tabs, threads and processes may hold the same one.

    **Privacy** Everything a session can ever say was paid for when it opened: `mechanism.cost` bounds any sequence of
    questions, also one chosen after seeing the answers. What is left of that cost goes from answer to answer, also over
    restarts, and the kernel of an answer refuses whatever goes beyond it. An answer is returned only after it is stored
    together with the state that follows it (`kept/turn.py`): what an adversary sees is one run of the mechanism, in the
    order of the replies, whatever crashes or races there were. An error after noise was drawn may tell what was drawn
    (only a hard answer learns, say), and would not be counted: it ends the session. A session that has ended gives back
    what it never used (`settlement.py`).

    The same question asked again gives the stored reply at no cost. That tells nothing new: the reply is public, and
    whether a question was asked before is known to whoever asked it. It also saves a hard answer that fresh noise
    would cost.

    An answer returns at the end of a slot of `slot` seconds (`pace.py`); a stored reply, which reads nothing
    private, returns at once. So does whatever else is public of a session, and none of it waits for an answer that is
    being computed: how long it waited would tell how long that took.
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
    settlement: Settlement | None = field(default=None, repr=False)
    """Knows outside of its file how many answers were given and whether it ended; None where nothing is ever drawn."""
    _lock: Lock = field(default_factory=Lock, repr=False)
    _counted: Event = field(default_factory=Event, repr=False)
    """Whether the private rows are counted already, as far as that is public."""
    _seen: dict[int, tuple[Any, str]] = field(default_factory=dict, repr=False)
    """The latest state and what is left, by its version, so that an answer need not read the disk; one, or two where
    threads met here."""

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
        counting = 0.0 if fits_in_memory(self.domain) else self._counting
        return max(LEAST_SLOT, computing + counting + STORING + STORING_BYTE * self.file.size(self.id))

    @cached_property
    def _counting(self) -> float:
        """Seconds to count the private rows once, by what is public of their number."""
        with self.file.snapshot(self.id) as turn:
            state, _ = self._read(turn)
        return counting_seconds(self.mechanism.released_rows(state), self.domain)

    def answer(self, question: Single) -> Answer:
        """The released answer; a question that cannot be answered is refused before anything is spent."""
        [answer] = self.answer_table([question])
        return answer

    def answer_table(self, questions: Sequence[Single]) -> list[Answer]:
        """The answers to the groups of a table, in one turn and for the price of one; each stays a question of its own.

        Together they must be about the same columns, and no record may count in two. A mechanism that cannot ask a
        table at once is asked question by question.
        """
        started = self.pace.clock()
        asked = [SessionQuestion.of(question, self.domain) for question in questions]
        stored = [self.file.asked_before(self.id, each.key) for each in asked]
        known = [each for each in stored if each is not None]
        if len(known) == len(asked):
            return known
        if (has_statistics(questions, self.mechanism) or not self.answers_tables) and len(asked) > 1:
            return [self.answer(question) for question in questions]
        # Who asks first since the server started waits for the rows to be counted; that it was the first is public.
        slot = self.slot + (self._counting if self.slot and not self._counted.is_set() else 0.0)
        if self.slot and len(asked) > 1:
            slot += sum(GROUP + GROUP_CELL * each.weights.size for each in questions if isinstance(each, Query))
        try:
            with self._lock:
                return self._take_turn(asked, questions)
        finally:
            self.pace.pad(started, slot)
            # Not before the slot has ended: when it was set would tell how long counting took.
            self._counted.set()

    @property
    def answers_tables(self) -> bool:
        """Whether a table of groups is asked at once."""
        return isinstance(self.mechanism, AnswersTables)

    @property
    def answers_statistics(self) -> bool:
        """Whether questions that are not sums over the rows are answered too."""
        return isinstance(self.mechanism, AnswersStatistics)

    def sql(self, text: str) -> SelectAnswer:
        """The answer to a SELECT of counts, sums, averages or quantiles; it rests on questions of the session."""
        return answer_select(
            text,
            self.domain,
            ask=self.answer_table,
            known=self._known,
            left=self._left,
            tables=self.answers_tables,
            measures_all=self.measures_all(),
        )

    def sql_price(self, text: str) -> SelectPrice:
        """What a SELECT takes at most; every refusal of its text happens here, and nothing is asked."""
        return price_select(text, self.domain, left=self._left(), slot=self.slot, tables=self.answers_tables)

    def close(self) -> None:
        """Accept no more questions, for good, and give back what was never used; closing twice is closing once."""
        with self._lock, self._alone(), self.file.closing(self.id) as turn:
            if turn is not None:
                older = self.settlement is None or self.settlement.older(turn.row.version)
                turn.close("closed", None if older else turn.left())
        self.settle()

    def settle(self) -> None:
        """Give back what a session that has ended never used, unless that was done."""
        left = None if self.settlement is None else self.file.left_at_end(self.id)
        if self.settlement is not None and left is not None:
            self.settlement.settle(left, self.file.row(self.id).version)

    def transcript(self) -> list[Answer]:
        """Every released answer, in order."""
        return self.file.replies(self.id)

    def transcript_csv(self) -> bytes:
        return transcript_csv(self.transcript())

    def question(self, number: int) -> Single:
        """The question that was answered under this number."""
        return question_from(*self.file.question(self.id, number), self.domain)

    def summary(self) -> Summary:
        tally, left = self.file.tally(self.id), self._left()
        return Summary(
            status=self.status,
            questions=sum(tally.values()),
            easy=tally.get("easy", 0),
            hard=tally.get("hard", 0),
            unchecked=tally.get("unchecked", 0),
            left=left,
            limit=None if left is None else left + tally.get("hard", 0),
            budget=self.budget,
            budget_share=self.paid(),
            room=MOST_ANSWERS,
            opened=self.opened,
            reason=self.file.row(self.id).reason,
            given_back=0.0 if self.settlement is None else self.settlement.given_back(),
        )

    def hypothesis(self) -> Source | None:
        """What is public about the table by now, as far as this session knows; None where it keeps nothing."""
        with self.file.snapshot(self.id) as turn:
            return self.mechanism.peek(self._state(turn)[0])

    def measures_all(self) -> bool:
        """Whether every new question is measured: what has no hypothesis has nothing to answer from but the table."""
        return self.hypothesis() is None

    def mixing(self) -> Mixing | None:
        """How well the walk behind its answers mixed; None where nothing walks."""
        if not isinstance(self.mechanism, Walks):
            return None
        with self.file.snapshot(self.id) as turn:
            return self.mechanism.mixing(self._state(turn)[0])

    def _left(self) -> int | None:
        """Hard answers that it can still give; None where there is no limit."""
        last = self.file.last(self.id)
        if last:
            return last.left
        with self.file.snapshot(self.id) as turn:
            return self.mechanism.left(self._state(turn)[0])

    def _known(self, question: Query) -> bool:
        """Whether it was asked before."""
        return self.file.asked_before(self.id, SessionQuestion.of(question, self.domain).key) is not None

    def _take_turn(self, asked: Sequence[SessionQuestion], questions: Sequence[Single]) -> list[Answer]:
        counts = self.counts()
        with self._alone():
            made = self._in_turn(asked, questions, counts)
            if not isinstance(made, DeskError):
                return made
        self.settle()
        raise made

    def _alone(self) -> AbstractContextManager[None]:
        return nullcontext() if self.settlement is None else self.settlement.turn()

    def _in_turn(
        self, asked: Sequence[SessionQuestion], questions: Sequence[Single], counts: Counts
    ) -> list[Answer] | DeskError:
        """The stored answers, or why the session has ended with this turn."""
        at = now()
        with self.file.turn(self.id) as turn:
            found = {each.key: turn.reply(each.key) for each in asked}
            new = [(each, query) for each, query in zip(asked, questions, strict=True) if found[each.key] is None]
            if not new:
                return [answer for answer in found.values() if answer is not None]
            turn.kept().check(sum(len(each.weights) for each, _ in new), len(new))
            if self.settlement is not None and self.settlement.older(turn.row.version):
                turn.close("closed", None)
                return Refused("This session was put back from an older copy, and so it is closed; open another one.")
            try:
                # In lowest terms the groups of one table may differ in their denominator, so they stay as written.
                wanted = [new[0][0].query] if len(new) == 1 else [query for _, query in new]
                made = compute_replies(self.mechanism, self.noise, *self._state(turn), wanted, counts)
            except CannotGoOn as problem:
                # Raised before any noise was drawn: what a state holds is public, so that this ends it tells nothing.
                turn.close("failed", turn.left())
                return problem
            if isinstance(made, str):
                turn.close("failed", made)
                return Failed("The answer could not be computed, and so this session is closed; open another one.")
            for place, ((each, _), reply, rows) in enumerate(zip(new, made.replies, made.rows, strict=True)):
                last = made.saved if place == len(new) - 1 else None
                found[each.key] = turn.record(question=each, at=at, reply=reply, rows=rows, state=last, place=place)
        answers = [answer for answer in found.values() if answer is not None]
        newest = max(answer.number for answer in answers)
        if self.settlement is not None:
            self.settlement.note_answer(newest)
        # Only what is committed may be remembered.
        if made.saved is not None:
            assert made.saved.allowance is not None
            self._remember(newest, made.after, made.saved.allowance)
        return answers

    def _state(self, turn: Turn) -> tuple[Any, str]:
        """The mechanism's state and what is left of the reserved spend."""
        version = turn.row.state_version
        known = self._seen.get(version)
        if known is None:
            known = self._read(turn)
            self._remember(version, *known)
        return known

    def _read(self, turn: Turn) -> tuple[Any, str]:
        stored = turn.state()
        return discreetly("The state of this session could not be read", lambda: self._load(stored))

    def _load(self, stored: StoredState) -> tuple[Any, str]:
        data, left = stored.data, stored.allowance
        if left is None:
            data, allowance = migrate(data, self.mechanism, self.domain, self.unit)
            left = written(allowance)
        return self.mechanism.load(self.domain, data), left

    def _remember(self, version: int, state: Any, left: str) -> None:
        self._seen.clear()
        self._seen[version] = state, left


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
