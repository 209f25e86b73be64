"""Sessions on tables of any size, as a visitor asks them: conjunctions of one to four columns and ranges.

Half of the questions are chosen after earlier answers: of eight recent questions the one with the largest answer gets a
condition more, or loses one. Errors are shares of all rows; epsilon 1, delta 1e-9; each session is the one that is
recommended for the schema, with the number of rows left at its usual guess, and each case is one session: the largest
error differs by a third between sessions.

How many records are kept and which columns are counted level by level was chosen on generated tables (`survey` with
other seeds, fewer rows and columns). How large a theme may be was chosen on the census table itself, what it gets
and how it is learnt on a generated survey.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from core.base.errors import DeskError
from core.kernel.query import Query
from core.mechanisms.online.online_tree import OnlineTree
from core.mechanisms.tree.tree import Tree
from core.planning.session_offers import session_offers
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.registry import interactive_from
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.bench.kit.line import Line
from tests.bench.kit.real_data import adult
from tests.kernels import OpenSession, answered, kernel_for, opened, run

BUDGET = Budget(1, 1e-9)
LARGEST_TABLE = 2**17
"""Combinations of the columns of one question: its weights are written out."""
SEVEN = ("age", "workclass", "marital-status", "occupation", "race", "sex", "income>50K")
THEME_COLUMNS, THEME_CELLS = 4, 300
"""Themes are all tables of so many columns of the census table with at most so many cells."""
TARGETS = {
    "adult 14": (0.0010, 0.012),
    "adult 7": (0.0012, 0.008),
    "survey 35": (0.0008, 0.008),
    "adult 2^14": (0.0016, 0.0077),
}
CPU_MS = {"easy": 5.0, "hard": 200.0}
OPENING_S = 8.0
THEME_TARGET = 0.85
SESSIONS, OPENINGS, SESSION_ROWS, TRIED = 100, 10, 5_000, 8
"""Sessions of which none may die; how often one is opened, from where as many sessions go apart; the rows of their
table, fewer than elsewhere so that all of them can be played and noise weighs more; and of how many questions each time
the one is asked that would be answered worst."""

Conditions = dict[str, np.ndarray]


@dataclass
class Played:
    """What a session said, question by question."""

    name: str
    opening: float
    errors: list[float] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    """Of the answers that have an interval, whether it holds the truth."""
    seconds: list[float] = field(default_factory=list)


class Visitor:
    """Asks, and remembers what was answered."""

    def __init__(self, domain: Domain, seed: int) -> None:
        self._domain, self._generator = domain, np.random.default_rng(seed)
        self._seen: list[tuple[Conditions, float]] = []
        self._last: Conditions = {}

    def ask(self) -> Query:
        while True:
            fresh = len(self._seen) < 20 or len(self._seen) % 2 == 0
            self._last = self._fresh() if fresh else self._adaptive()
            if self._domain.cells(tuple(self._last)) <= LARGEST_TABLE:
                return conjunction(self._domain, self._last)

    def hear(self, share: float) -> None:
        self._seen.append((self._last, share))

    def _fresh(self) -> Conditions:
        count = min(len(self._domain), int(self._generator.integers(1, 5)))
        chosen = self._generator.choice(len(self._domain), count, replace=False)
        return {name: self._condition(name) for name in (self._domain.names[place] for place in chosen)}

    def _adaptive(self) -> Conditions:
        recent = self._generator.integers(max(0, len(self._seen) - 200), len(self._seen), 8)
        conditions = dict(max((self._seen[place] for place in recent), key=lambda each: each[1])[0])
        rest = [name for name in self._domain.names if name not in conditions]
        if not rest or len(conditions) == 4 or (len(conditions) > 1 and self._generator.random() < 0.3):
            conditions.pop(list(conditions)[self._generator.integers(len(conditions))])
        else:
            name = rest[self._generator.integers(len(rest))]
            conditions[name] = self._condition(name)
        return conditions

    def _condition(self, name: str) -> np.ndarray:
        """A value, or of an ordered column half of the time a range."""
        size = self._domain[name].size
        weights = np.zeros(size, dtype=np.int64)
        if self._domain[name].ordered and self._generator.random() < 0.5:
            low, high = np.sort(self._generator.integers(0, size, 2))
            weights[low : high + 1] = 1
        else:
            weights[self._generator.integers(size)] = 1
        return weights


def conjunction(domain: Domain, conditions: Mapping[str, np.ndarray]) -> Query:
    names = tuple(name for name in domain.names if name in conditions)
    weights = np.ones((), dtype=np.int64)
    for name in names:
        weights = np.multiply.outer(weights, conditions[name])
    return Query(columns=names, weights=weights)


def play(table: StandIn, questions: int, ask: Callable[[], Query], hear: Callable[[float, float], None]) -> Played:
    """A session of the recommended kind; whoever asks is told the answer, and the truth that only a bench knows."""
    name, options = next(iter(session_offers(table.domain, table.unit, BUDGET).found.items()))
    session = interactive_from(name, BUDGET, options)
    kernel, rows = kernel_for(session, table), len(table.codes)
    start = time.process_time()
    state: Any = session.open(kernel)
    played = Played(name, time.process_time() - start)
    for _ in range(questions):
        question = ask()
        truth = float(question.total(table)) / question.denominator
        start = time.process_time()
        state, reply = session.answer(state, question, kernel)
        played.seconds.append(time.process_time() - start)
        played.errors.append(abs(reply.share - truth / rows))
        played.kinds.append(reply.kind)
        if reply.margin is not None:
            played.covered.append(abs(reply.count - truth) <= reply.margin)
        hear(reply.share, truth / rows)
    return played


def visits(case: str, table: StandIn, questions: int) -> Iterator[Line]:
    visitor = Visitor(table.domain, seed=0)
    played = play(table, questions, visitor.ask, lambda share, _: visitor.hear(share))
    words = f"{case} questions={questions:,} {played.name}"
    mean, largest = TARGETS[case]
    yield Line("online", words, "mean_error", float(np.mean(played.errors)), "target", mean)
    yield Line("online", words, "max_error", max(played.errors), "target", largest)
    yield from _intervals(words, played)
    for kind, limit in CPU_MS.items():
        spent = [
            each
            for each, said in zip(played.seconds, played.kinds, strict=True)
            if (said == "hard") == (kind == "hard")
        ]
        if spent:
            yield Line("online", f"{words} {kind} answers", "median_ms", float(np.median(spent)) * 1e3, "target", limit)
    yield Line("online", f"{words} opening", "cpu_s", played.opening, "target", OPENING_S)


def themes(table: StandIn, questions: int) -> Iterator[Line]:
    """Conjunctions over one table of four columns at a time, beside a 'tree' release of the whole budget each."""
    sets = [
        names for names in combinations(table.domain.names, THEME_COLUMNS) if table.domain.cells(names) <= THEME_CELLS
    ]
    gains = [_theme(table, names, questions) for names in sets]
    words = f"adult 14 questions={questions:,} about one of {len(sets)} 4-way tables, online-tree / tree release"
    yield Line("online", words, "mean_error_ratio", float(np.mean(gains)), "target", THEME_TARGET)
    yield Line("online", f"{words}, worst table", "mean_error_ratio", max(gains), "target", THEME_TARGET)


def _theme(table: StandIn, names: tuple[str, ...], questions: int) -> float:
    """The session's mean error divided by that of the release."""
    generator, domain, theirs = np.random.default_rng(1), table.domain, list[float]()
    release = run(Tree(queries=(Marginals(order=2),), budget=BUDGET), table)
    cells = {name: np.eye(domain[name].size, dtype=np.int64) for name in names}

    def ask() -> Query:
        question = conjunction(domain, {name: each[generator.integers(len(each))] for name, each in cells.items()})
        theirs.append(abs(float(question.answer(release)) - float(question.total(table)) / len(table.codes)))
        return question

    played = play(table, questions, ask, lambda *_: None)
    return float(np.mean(played.errors) / np.mean(theirs))


def overfitting(table: StandIn, questions: int) -> Iterator[Line]:
    """Each question collects the cells of a table on which earlier answers were too large: stronger than any analyst,
    because the true errors are handed over."""
    generator, columns = np.random.default_rng(2), ("education-num", "sex", "income>50K")
    shape = table.domain.shape(columns)
    suspicion, asked = np.zeros(shape), np.zeros(shape)

    def ask() -> Query:
        nonlocal asked
        chance = generator.random(shape) < 0.5
        asked = np.where(suspicion == 0, chance, np.where(generator.random(shape) < 0.8, suspicion > 0, chance))
        return Query(columns=columns, weights=asked.astype(np.int64))

    def hear(share: float, truth: float) -> None:
        nonlocal suspicion
        suspicion = suspicion + (share - truth) * (2 * asked - 1)

    yield from _intervals(f"adult 14 overfitting analyst questions={questions:,}", play(table, questions, ask, hear))


def _intervals(words: str, played: Played) -> Iterator[Line]:
    if played.covered:
        yield Line("online", f"{words} intervals", "coverage", float(np.mean(played.covered)), "target", 0.95)
    yield Line("online", f"{words} answers with an interval", "share", len(played.covered) / len(played.errors))


def deaths(table: StandIn, sessions: int, questions: int) -> Iterator[Line]:
    """Sessions that could not go on to their last question, each saved and read back after every answer that learnt.

    Whoever asks is told the true errors and asks what is answered worst, every second time the other way round.
    """
    session, died = OnlineTree(budget=BUDGET), 0
    for start in range(0, sessions, sessions // OPENINGS):
        begun = opened(session, table)
        seeds = range(start, start + sessions // OPENINGS)
        died += sum(not _lives(session, begun, table, questions, seed) for seed in seeds)
    words = f"survey 35 rows={len(table.codes):,} online-tree sessions={sessions:,} questions={questions:,}"
    yield Line("online", words, "died", float(died), "target", 0.0)


def _lives(session: OnlineTree, begun: OpenSession, table: StandIn, questions: int, seed: int) -> bool:
    visitor = Visitor(table.domain, seed)
    try:
        for place in range(questions):
            question = max(
                (visitor.ask() for _ in range(TRIED)),
                key=lambda each: abs(begun.state.total(each) - float(each.total(table))),
            )
            asked = replace(question, weights=1 - question.weights) if place % 2 else question
            after, reply = answered(session, begun, asked, table)
            if not np.isfinite([reply.count, reply.share]).all():
                return False
            if after.state is not begun.state:
                after = replace(after, state=session.load(table.domain, session.save(after.state)))
            begun = after
    except (ArithmeticError, ValueError, DeskError):
        return False
    return True


def survey(rows: int = 170_000, columns: int = 35, seed: int = 11) -> StandIn:
    """Answers that follow a few hidden traits and groups of people, some of them repeating earlier answers."""
    generator = np.random.default_rng(seed)
    sizes = generator.choice([2, 2, 2, 3, 4, 5, 5, 6, 8, 10, 12, 16, 24, 40], columns)
    group = generator.choice(12, rows, p=generator.dirichlet(np.ones(12)))
    traits = generator.normal(size=(rows, 3)) + generator.normal(size=(12, 3))[group]
    codes: list[np.ndarray] = []
    attributes: list[Any] = []
    for place, size in enumerate(sizes.tolist()):
        ordered = size >= 5 and generator.random() < 0.6
        if codes and generator.random() < 0.15:
            source = codes[generator.integers(len(codes))]
            score = source / (source.max() + 1e-9) + 0.15 * generator.normal(size=rows)
        else:
            score = traits @ generator.normal(size=3) * generator.choice([0.3, 0.8, 1.5]) + generator.normal(size=rows)
        cuts = np.quantile(score[:20_000], np.sort(generator.beta(0.8, 0.8, size - 1)))
        column = np.searchsorted(cuts, score)
        codes.append((column if ordered else generator.permutation(size)[column]).astype(np.int64))
        name = f"q{place}"
        attributes.append(
            Integers(name=name, low=0, high=size - 1) if ordered else Categories(name=name, values=tuple(range(size)))
        )
    return StandIn(Domain(tuple(attributes)), np.stack(codes, axis=1), Unit.row())


def narrowed(table: StandIn, names: tuple[str, ...]) -> StandIn:
    places = [table.domain.names.index(name) for name in names]
    return StandIn(table.domain.project(names), table.codes[:, places], table.unit)


def binary(table: StandIn) -> StandIn:
    """Every column as yes or no: whether its code is at least its median, and at least 1."""
    facts = table.codes >= np.maximum(1, np.median(table.codes, axis=0))
    domain = Domain(tuple(Booleans(name=f"c{place}") for place in range(facts.shape[1])))
    return StandIn(domain, facts.astype(np.int64), table.unit)


def cases(folder: Path, questions: int) -> dict[str, Callable[[], Iterator[Line]]]:
    """Every case by its name; tables are read or made when a case is run."""
    return {
        "survey 35": lambda: visits("survey 35", survey(), questions),
        "adult 14": lambda: visits("adult 14", adult(folder), questions),
        "adult 7": lambda: visits("adult 7", narrowed(adult(folder), SEVEN), questions),
        "adult 2^14": lambda: visits("adult 2^14", binary(adult(folder)), questions),
        "themes": lambda: themes(adult(folder), questions // 5),
        "deaths": lambda: deaths(survey(SESSION_ROWS), SESSIONS, questions // 100),
        "overfitting": lambda: overfitting(adult(folder), questions // 5),
    }
