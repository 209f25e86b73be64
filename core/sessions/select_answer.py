"""A SELECT asked of a session: its price before, and its answer as a table of numbers with intervals.

Every number rests on ordinary questions of the session: they are limited, stored and listed in the transcript like any
others, and one that was asked before is free. The groups of a count, a sum or an average are one table, which a session
asks at once where it can: it takes one slot and at most one hard answer. Quantiles are asked one question at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from core.base.arrays import Columns
from core.base.errors import OutOfBudget
from core.base.wording import plural
from core.formulas.sql.estimates import SelectNumber, estimate
from core.formulas.sql.grammar import parse_select
from core.formulas.sql.groups import groups_of, most_asked, turns_of
from core.formulas.sql.statement import headings
from core.kernel.query import Query
from core.schema.domain import Domain
from core.sessions.answer import Answer


@dataclass(frozen=True, kw_only=True)
class SelectPrice:
    """What a statement may take, known before anything is asked."""

    groups: int
    questions: int
    """At most so many; those that were asked before are free."""
    hard: int
    """Hard answers at most, of those that the session has left."""
    seconds: float
    """At least so long if none of them was asked before; a busy machine takes longer."""

    def sentence(self) -> str:
        """
        >>> SelectPrice(groups=3, questions=6, hard=2, seconds=0.61).sentence()
        'It asks at most 6 questions for 3 groups and takes up to 2 hard answers, in about 1 second.'
        >>> SelectPrice(groups=1, questions=1, hard=0, seconds=0.0).sentence()
        'It asks at most 1 question and takes no hard answer.'
        """
        groups = f" for {plural(self.groups, 'group')}" if self.groups > 1 else ""
        hard = f"up to {plural(self.hard, 'hard answer')}" if self.hard else "no hard answer"
        time = f", in about {plural(max(1, round(self.seconds)), 'second')}" if self.seconds else ""
        return f"It asks at most {plural(self.questions, 'question')}{groups} and takes {hard}{time}."


@dataclass(frozen=True, kw_only=True)
class SelectRow:
    """One group."""

    labels: tuple[str, ...]
    estimates: tuple[SelectNumber, ...]


@dataclass(frozen=True, kw_only=True)
class SelectAnswer:
    """The answer to a statement. Everything in it is released."""

    columns: Columns
    """What it is grouped by."""
    titles: tuple[str, ...]
    """Its numbers, in the order in which they were selected."""
    counted: tuple[bool, ...]
    """Which of them are counts of rows; the others are made of values, each taken at the middle of its bin."""
    rows: tuple[SelectRow, ...]
    """Every group that the schema allows, empty ones included."""
    questions: int
    """Answers that it rests on."""
    hard: int
    """Hard ones among them, whether they were given now or before."""
    left: int | None
    """Hard answers that the session can still give; None where there is no limit."""

    def frame(self) -> pd.DataFrame:
        """One line per group: its labels, then each number with the ends of its interval."""
        found: dict[str, list[object]] = {}
        for place, name in enumerate(self.columns):
            found[name] = [row.labels[place] for row in self.rows]
        for place, title in enumerate(self.titles):
            numbers = [row.estimates[place] for row in self.rows]
            parts = [(number.value, number.low, number.high) for number in numbers]
            found |= {name: [part[at] for part in parts] for at, name in enumerate(headings(title))}
        return pd.DataFrame(found)


def price_select(text: str, domain: Domain, *, left: int | None, slot: float, tables: bool) -> SelectPrice:
    """Every refusal of the text happens here; nothing is asked."""
    select = parse_select(text, domain)
    found = groups_of(select, domain)
    groups, questions = len(found), len(found) * most_asked(select, domain)
    turns = turns_of(select, found, domain, tables=tables).most
    # Without a limit nothing is measured: everything was counted when the session opened, or released before.
    hard = 0 if left is None else min(left, turns)
    return SelectPrice(groups=groups, questions=questions, hard=hard, seconds=slot * turns)


def answer_select(
    text: str,
    domain: Domain,
    *,
    ask: Callable[[Sequence[Query]], list[Answer]],
    known: Callable[[Query], bool],
    left: Callable[[], int | None],
    tables: bool,
    measures_all: bool,
) -> SelectAnswer:
    """Ask whatever the statement takes; `tables` says whether groups are asked at once.

    A session that measures every question refuses beyond its limit. So that none of its answers is spent on half of a
    table, a statement that might not end is refused before the first question that is not known.
    """
    select = parse_select(text, domain)
    groups = groups_of(select, domain)
    turns = turns_of(select, groups, domain, tables=tables)
    fresh, single = [table for table in turns.tables if not all(known(query) for query in table)], turns.single
    if fresh and measures_all:
        _check_left(left(), len(fresh) + single)
    # All groups are asked, also those in which an average turns out to rest on no rows; what is known is free.
    answers = [answer for table in turns.tables for answer in ask(table)]
    told = {query.words for table in turns.tables for query in table}
    begun = not measures_all

    def asked(query: Query) -> Answer:
        nonlocal begun, single
        if not begun and not known(query):
            begun = True
            _check_left(left(), single)
        single -= query.words not in told
        answers.extend(ask([query]))
        return answers[-1]

    rows = tuple(
        SelectRow(
            labels=group.labels,
            estimates=tuple(estimate(part, group.condition, domain, asked) for part in select.aggregates),
        )
        for group in groups
    )
    return SelectAnswer(
        columns=select.groups,
        titles=tuple(part.title for part in select.aggregates),
        counted=tuple(part.measure == "count" for part in select.aggregates),
        rows=rows,
        # Answers that are in no transcript have no number of their own.
        questions=len({(answer.number, answer.words) for answer in answers}),
        hard=len({answer.number for answer in answers if answer.kind == "hard"}),
        left=left(),
    )


def _check_left(left: int | None, needed: int) -> None:
    if left is not None and left < needed:
        raise OutOfBudget(
            f"This may take {plural(needed, 'hard answer')} and the session has {left:,} left; nothing was asked."
        )
