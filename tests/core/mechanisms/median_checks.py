"""What is checked of both median mechanisms: exact privacy on small tables, and sessions with repeatable noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from core.kernel.query import Query
from core.mechanisms.median.session import MedianSession
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.kernels import kernel_for
from tests.privacy.kit.recorder import Recorder

MICRO = Domain((Integers(name="a", low=0, high=2),))
MICRO_QUESTIONS = tuple(Query(columns=("a",), weights=np.eye(3, dtype=np.int64)[place]) for place in range(3))
HIGH = 2**60


@dataclass(frozen=True)
class Step:
    hidden: int
    epsilon: Fraction
    sensitivity: int
    output: int


class Scripted:
    """Noise whose outputs are written down beforehand; what it was given is recorded."""

    def __init__(self, outputs: Sequence[int]) -> None:
        self.outputs, self.steps = list(outputs), []

    def laplace(self, values: np.ndarray, *, epsilon: Fraction, sensitivity: int) -> np.ndarray:
        output = self.outputs[len(self.steps)]
        flat = np.asarray(values).reshape(-1)
        self.steps.append(Step(int(flat[0]), Fraction(epsilon), sensitivity, output))
        return np.full(np.shape(values), output, dtype=np.int64)

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(0)

    def keys(self, count: int) -> np.ndarray:
        return np.ones(count, dtype=np.uint64)


def scripted(mechanism: MedianSession, counts: Cells, kinds: Sequence[str], numbers: Sequence[int]) -> list[Step]:
    """The private steps of a session in which the questions, and the numbers of hard ones, come out as given."""
    outputs = [[-HIGH] if kind == "easy" else [HIGH, number] for kind, number in zip(kinds, numbers, strict=False)]
    noise = Scripted([0, *(each for step in outputs for each in step)])
    kernel = kernel_for(mechanism, counts, noise)
    state = mechanism.open(kernel)
    for question, kind in zip(MICRO_QUESTIONS, kinds, strict=False):
        state, reply = mechanism.answer(state, question, kernel)
        assert reply.kind == kind
    return noise.steps


def log_chance(steps: Sequence[Step], kinds: Sequence[str], threshold: int) -> float:
    """Logarithm of the probability of these outcomes of one sparse vector, the offset summed out; numbers included."""
    offset, rest = steps[0], list(steps[1:])
    scale = offset.sensitivity / float(offset.epsilon)
    places = np.linspace(-60 * scale, 60 * scale, 8_001)
    weights = np.abs(places) / -scale
    for kind in kinds:
        test = rest.pop(0)
        noise = test.sensitivity / float(test.epsilon)
        gap = (threshold + places - test.hidden) / noise
        above = np.where(gap > 0, np.exp(-np.abs(gap)) / 2, 1 - np.exp(-np.abs(gap)) / 2)
        weights = weights + np.log(above if kind == "hard" else 1 - above)
        if kind == "hard":
            number = rest.pop(0)
            weights = weights - abs(number.output - number.hidden) * float(number.epsilon) / number.sensitivity
    return float(np.logaddexp.reduce(weights))


def neighbours(unit: Unit) -> Iterator[tuple[Cells, Cells]]:
    """Tables of four rows over three cells, and all that differ by one row replaced."""
    for cells in ((4, 0, 0), (2, 2, 0), (1, 1, 2), (0, 3, 1)):
        for gone, come in product(range(3), repeat=2):
            if gone != come and cells[gone]:
                other = list(cells)
                other[gone] -= 1
                other[come] += 1
                yield Cells(MICRO, np.array(cells), unit), Cells(MICRO, np.array(other), unit)


def both(mechanism: MedianSession, first: Cells, second: Cells, questions: Sequence[Query], seed: int) -> Any:
    """The calls of a session and of one on a neighbour with the same answers; all replies must be the same."""
    recorded = Recorder(seed)
    one = session(mechanism, first, questions, recorded)
    replayed = Recorder(seed, recorded.calls)
    two = session(mechanism, second, questions, replayed)
    assert one == two
    assert len(recorded.calls) == len(replayed.calls)
    return list(zip(recorded.calls, replayed.calls, strict=True))


def session(
    mechanism: MedianSession,
    counts: Cells,
    questions: Sequence[Query],
    noise: Any,
    watch: Callable[[Any], None] = lambda state: None,
) -> list[Any]:
    kernel = kernel_for(mechanism, counts, noise)
    state, replies = mechanism.open(kernel), []
    for question in questions:
        state, reply = mechanism.answer(state, question, kernel)
        watch(state)
        replies.append(reply)
    return replies
