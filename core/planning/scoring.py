"""How far a release is from the table it was made of, per query class.

**Privacy** None: these figures are exact and for the curator's eyes, unless the table itself is public (a rehearsal).
Nothing here may enter a release, an export or a log.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from core.base.arrays import Floats
from core.queries.kit.checks import MOST_LISTED
from core.queries.kit.focus import asked_tables
from core.queries.kit.protocol import QueryClass, Source, Spanned, rows_of, words_of

SAMPLED, FEWEST = 2_000, 50
"""Members drawn of a class that is too large to be listed; fewer where each is about very many cells."""
MOST_WEIGHTS = 2**28
"""Cells that all of these may have weights for, together; a sixteenth of them at a time."""
WORST = 10

WordsAt = Callable[[int], str]
"""The question at a place of a sample."""


@dataclass(frozen=True, kw_only=True)
class Miss:
    """One question with its true and its released answer, as shares of the table."""

    words: str
    truth: float
    released: float

    @property
    def error(self) -> float:
        return abs(self.truth - self.released)


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """The errors of one class, as shares of the table."""

    name: str
    sentence: str
    errors: Floats
    """Of every member, or of a random sample of a large class."""
    largest: float
    """Over the whole class where that is known, else over the sample."""
    worst: tuple[Miss, ...]
    """The largest ones, in words."""
    listed: bool
    """Whether `errors` are those of all members."""

    @property
    def mean(self) -> float:
        return float(self.errors.mean()) if self.errors.size else 0.0


def score(
    queries: Iterable[QueryClass], truth: Source, estimate: Source, generator: np.random.Generator | None = None
) -> tuple[Score, ...]:
    """The errors of each class, in its order; `generator` draws the sample of a class that is too large."""
    drawing = np.random.default_rng() if generator is None else generator
    return tuple(_score(query, truth, estimate, drawing) for query in queries)


def _score(query: QueryClass, truth: Source, estimate: Source, generator: np.random.Generator) -> Score:
    domain, log_size = estimate.domain, query.log_size(estimate.domain)
    # A continuous class answers for its public net, which is a list too.
    listed = log_size <= math.log(MOST_LISTED) or math.isinf(log_size)
    words: WordsAt = partial(words_of, query, domain)
    if listed:
        true, released = query.answers(truth), query.answers(estimate)
    elif isinstance(query, Spanned):
        true, released, words = _drawn(query, truth, estimate, generator)
    else:
        true, released, words = _asked(query, truth, estimate, generator)
    errors = np.abs(true - released)
    largest = float(errors.max(initial=0.0))
    return Score(
        name=query.name,
        sentence=query.sentence(domain),
        errors=errors,
        largest=largest if listed else max(largest, query.worst(truth, estimate)),
        worst=tuple(
            Miss(
                words=words(place),
                truth=float(true[place]),
                released=float(released[place]),
            )
            for place in _largest(errors)
        ),
        listed=listed,
    )


def _drawn(
    query: Spanned, truth: Source, estimate: Source, generator: np.random.Generator
) -> tuple[Floats, Floats, WordsAt]:
    """Answers of a sample of spans, of which no member is made but those whose words are asked for."""
    domain = estimate.domain
    places = query.draw(domain, SAMPLED, generator)

    def answers(source: Source) -> Floats:
        rows, totals = float(rows_of(source)), np.asarray(query.totals_between(source, places), dtype=np.float64)
        return totals / rows if rows > 0 else np.zeros_like(totals)

    return answers(truth), answers(estimate), lambda place: query.member_between(domain, places[place]).words


def _asked(
    query: QueryClass, truth: Source, estimate: Source, generator: np.random.Generator
) -> tuple[Floats, Floats, WordsAt]:
    """Answers of a sample, a few members at a time: each holds a weight for every cell of its table."""
    domain = estimate.domain
    cells = max(domain.cells(columns) for columns in asked_tables(query, domain))
    count = min(SAMPLED, max(FEWEST, MOST_WEIGHTS // cells))
    together = min(count, max(1, MOST_WEIGHTS // 16 // cells))
    true, released, words = list[float](), list[float](), list[str]()
    while len(words) < count:
        for member in query.sample(domain, together, generator):
            true.append(member.answer(truth))
            released.append(member.answer(estimate))
            words.append(member.words)
    return np.array(true), np.array(released), words.__getitem__


def _largest(errors: Floats) -> list[int]:
    first = np.argpartition(errors, -WORST)[-WORST:] if errors.size > WORST else np.arange(errors.size)
    return [int(place) for place in first[np.argsort(-errors[first], kind="stable")]]
