"""Every interactive mechanism in small sessions, and noise that is told what to say.

Questions are asked one after the other; open sessions are never changed in place, neither the mechanism's state nor
what the kernel keeps, so all ways in which a session can go on are followed from the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from core import registry
from core.base.errors import DeskError
from core.kernel.query import Query
from core.kernel.sparse_vector import AboveThreshold
from core.mechanisms.online import themes
from core.models.polytope import cloud as walk_cloud
from core.models.polytope.cloud import Cloud
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Cells
from tests.kernels import OpenSession, answered, opened
from tests.privacy.kit.recorder import Mark

VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "online-tree": ({},),
    "online-weights": ({}, {"variant": "theorem", "alpha": 0.9}),
    "online-histogram": ({},),
    "online-perceptron": ({}, {"variant": "theorem", "alpha": 0.9}),
    "online-median": ({"members": 40, "size": 4}, {"variant": "theorem", "alpha": 0.9, "size": 3}),
    "online-laplace": ({},),
    "median-basic": ({"size": 3}, {"constants": "thesis", "alpha": 0.9}),
    "median-walk": ({"chains": 16}, {"constants": "thesis", "alpha": 0.9, "chains": 16}),
}
"""Options of each interactive mechanism: as it comes, and by the constants of its theorem."""
PLANNED = {"alpha": 0.4, "questions": 12, "rows": 3_000}
"""For the mechanisms that plan for so many questions and rows; the number of rows is a guess, not that of a table."""
HIGH, OFFSET = 2**60, 5
"""Noisy values that decide a comparison either way, and the secret offset of every run."""


def session_cases(domain: Domain, budgets: Sequence[Budget], units: Sequence[Unit]) -> Iterator[tuple[str, Any, Unit]]:
    """Every interactive mechanism in each of its variants, with every budget and unit, as (label, mechanism, unit)."""
    for name in registry.interactive:
        for place, options in enumerate(VARIANTS[name]):
            for budget in budgets:
                for unit in units:
                    if mechanism := built(name, budget, options, domain, unit):
                        kind = "pure" if budget.pure else "approximate"
                        yield f"{name}-{place}-{kind}-{unit.limit}{unit.neighbours}", mechanism, unit


def built(name: str, budget: Budget, options: dict[str, Any], domain: Domain, unit: Unit) -> Any:
    """The mechanism, or None where it refuses this schema in advance."""
    known = registry.interactive[name].__dataclass_fields__
    planned = {key: value for key, value in PLANNED.items() if key in known}
    mechanism = registry.interactive_from(name, budget, {**planned, **options})
    try:
        mechanism.check(domain, unit)
    except DeskError:
        return None
    return mechanism


@dataclass(frozen=True)
class Step:
    """One call for noise: what was hidden, at which price, and what it was used for."""

    use: str
    """'offset' and 'comparison' of a sparse vector; 'release' for everything that an analyst gets to see."""
    hidden: tuple[int, ...]
    epsilon: Fraction
    sensitivity: int
    threshold: int = 0
    above: bool = False
    together: bool = False
    """Whether noise was drawn for all numbers together: then it is scaled to the change of one of them."""

    @property
    def public(self) -> tuple[Any, ...]:
        """Everything that must be the same on a neighbour."""
        return self.use, len(self.hidden), self.epsilon, self.sensitivity, self.threshold, self.above, self.together


class Undecided(Exception):
    """A comparison beyond the script."""


@dataclass
class Told:
    """A noise source that says what it is told: a script of comparisons, one number for everything released."""

    script: list[bool]
    level: int
    offset: int = OFFSET
    steps: list[Step] = field(default_factory=list)
    now: Mark | None = None

    def laplace(self, values: Any, *, epsilon: Fraction, sensitivity: int) -> Any:
        hidden = np.asarray(values)
        assert hidden.dtype.kind == "i", "noise must be added to integers"
        use, threshold, above = "release", 0, False
        if self.now is not None:
            use, threshold = self.now.use, self.now.threshold
            assert use == "offset" or self.now.offset == self.offset, "a comparison must use the offset of its run"
        if use == "comparison":
            if not self.script:
                raise Undecided
            above = self.script.pop(0)
        said = {"release": self.level, "offset": self.offset, "comparison": HIGH if above else -HIGH}[use]
        flat = tuple(int(value) for value in hidden.reshape(-1))
        self.steps.append(Step(use, flat, Fraction(epsilon), int(sensitivity), threshold, above))
        return np.full(hidden.shape, said, dtype=np.int64)

    def cube(self, values: Any, *, epsilon: Fraction, sensitivity: int) -> Any:
        said = self.laplace(values, epsilon=epsilon, sensitivity=sensitivity)
        self.steps[-1] = replace(self.steps[-1], together=True)
        return said

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(0)

    def keys(self, count: int) -> np.ndarray:
        return np.ones(count, dtype=np.uint64)


@contextmanager
def told_apart() -> Iterator[None]:
    """Let a `Told` or `Recorder` know what a sparse vector draws for; its code stays what it is."""
    offset, above = AboveThreshold.offset, AboveThreshold.above

    def marked_offset(self: AboveThreshold, noise: Any) -> int:
        noise.now = Mark("offset", self)
        try:
            return offset(self, noise)
        finally:
            noise.now = None

    def marked_above(self: AboveThreshold, value: int, threshold: int, drawn: int, noise: Any) -> bool:
        noise.now = Mark("comparison", self, threshold, drawn)
        try:
            return above(self, value, threshold, drawn, noise)
        finally:
            noise.now = None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AboveThreshold, "offset", marked_offset)
        patch.setattr(AboveThreshold, "above", marked_above)
        yield


@contextmanager
def quick_walks() -> Iterator[None]:
    """A walk is public: it may be short, and the same cuts from the same place need computing only once."""
    start, learnt = Cloud.start, Cloud.learnt
    seen: dict[Any, Any] = {}
    kept: list[Any] = []

    def started(domain: Domain, rows: float, chains: int, generator: Any, *, spare: bool) -> Cloud:
        key = domain.names, rows, chains, spare
        if key not in seen:
            seen[key] = start(domain, rows, chains, generator, spare=spare)
        return seen[key]

    def learning(self: Cloud, question: Query, value: float, half: float, generator: Any) -> Cloud:
        key = id(self), question.columns, question.weights.tobytes(), question.denominator, value, half
        if key not in seen:
            kept.append(self)  # so that no other object gets the same id
            seen[key] = learnt(self, question, value, half, generator)
        return seen[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_cloud, "MOST_SWEEPS", 2)
        patch.setattr(Cloud, "start", staticmethod(started))
        patch.setattr(Cloud, "learnt", learning)
        yield


@contextmanager
def first_themes() -> Iterator[None]:
    """The first question about two columns or more is a theme, so that short sessions measure one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(themes, "STEP", 1)
        patch.setattr(themes, "OFTEN", 1)
        patch.setattr(themes, "FEWEST_COLUMNS", 2)
        yield


@dataclass(frozen=True)
class Way:
    """One way in which a session can go: the outcomes of all comparisons and every call for noise, in order."""

    outcomes: tuple[bool, ...]
    steps: tuple[Step, ...]
    replies: tuple[Any, ...]


def ways(mechanism: Any, counts: Cells, asked: Sequence[Query], level: int = 3) -> list[Way]:
    """All ways in which a session over these questions can go, for one choice of the released numbers."""
    opening = Told([], level)
    first = opened(mechanism, counts, opening)
    found = [((), tuple(opening.steps), (), first)]
    for place, question in enumerate(asked):
        found = [
            ((*outcomes, *more), (*steps, *told.steps), (*replies, reply), after)
            for outcomes, steps, replies, before in found
            for more, told, reply, after in _answers(mechanism, before, question, counts, level + 4 * (place % 2))
        ]
    return [Way(outcomes, steps, replies) for outcomes, steps, replies, _ in found]


def _answers(mechanism: Any, before: OpenSession, question: Query, counts: Cells, level: int) -> Iterator[Any]:
    """Every outcome of one question."""
    scripts: list[tuple[bool, ...]] = [()]
    while scripts:
        script = scripts.pop()
        told = Told(list(script), level)
        try:
            after, reply = answered(mechanism, before, question, counts, told)
        except Undecided:
            scripts += [(*script, True), (*script, False)]
        else:
            yield script, told, reply, after
