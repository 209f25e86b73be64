"""The kernel: private counts, noise and a reserved spend in one object that gives away noisy numbers only.

A mechanism is handed a `Kernel` and nothing else of the table. It cannot read counts, hand over a sensitivity, draw
noise by itself or spend what was not reserved; so whatever it does, what it says is as private as its reservation. What
is left of that and the secrets of open comparisons are in the `Allowance`, which stays with whoever made the kernel.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.base.errors import BadParameter
from core.kernel.allowance import Allowance
from core.kernel.asked import Asked, AskedEnds, AskedOrder, AskedScores, AskedTogether, Compared, Sealed
from core.kernel.compared import FURTHEST
from core.kernel.databases.prefix_databases import PrefixDatabases
from core.kernel.decisions.covering import Covering, Found, Round
from core.kernel.noise_level import Additive, MeasuredTogether, Measurement, NoiseLevel
from core.kernel.remembered import Remembered
from core.kernel.searches.crowding import Boxed, Crowding
from core.kernel.sparse_vector import AboveThreshold, NumericSparse, OpenRun, Watch
from core.privacy.cube import deviation
from core.privacy.events import Cost, Gaussian, Greedy, Laplace, Pure, Selection
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts, prepare
from core.table.raw_columns import RawColumns
from core.table.views import Recoded, Recoding


class Kernel:
    """Measures, chooses and compares, each at the price of an event that was reserved."""

    __slots__ = ("__allowance", "__counts", "__noise")

    def __init__(self, counts: Counts | RawColumns, noise: NoiseSource, reserved: Cost | Allowance) -> None:
        self.__counts: Any = counts if isinstance(counts, RawColumns) else Remembered(counts)
        self.__noise = noise
        self.__allowance = reserved if isinstance(reserved, Allowance) else Allowance(reserved)

    @property
    def domain(self) -> Domain:
        """The public schema."""
        return self.__counts.domain

    @property
    def unit(self) -> Unit:
        """Whose presence is hidden."""
        return self.__counts.unit

    @property
    def public_rows(self) -> int | None:
        """The number of rows where the unit makes it public; otherwise None."""
        return self.__counts.public_rows if self.unit.public_rows else None

    def expect(self, tables: Sequence[Columns]) -> None:
        """Say which tables will be asked for next, so that they are counted together; nothing comes back."""
        prepare(self.__counts, tables)

    def measure(self, asked: Asked, event: Additive) -> Measurement:
        """What is asked, with noise scaled to its own change.

        **Privacy** Laplace(epsilon): epsilon-differentially private; Gaussian(rho): rho-zero-concentrated (`noise.py`).
        What consists of several parts is paid part by part: composition adds up.
        """
        _check(asked, Asked)
        _check_event(event, Laplace, Gaussian)
        level = NoiseLevel.of(asked, event, self.unit)
        for _ in range(asked.parts):
            self.__allowance.take(event)
        hidden = asked.counts(self.__counts)
        if asked.parts == 1:
            return Measurement(asked, self.__noisy(hidden, level), level)
        values = [self.__noisy(part, level) for part in hidden.reshape(asked.parts, -1)]
        return Measurement(asked, np.concatenate(values).reshape(hidden.shape), level)

    def __noisy(self, hidden: NDArray[np.int64], level: NoiseLevel) -> NDArray[np.int64]:
        if isinstance(level.event, Laplace):
            values = self.__noise.laplace(hidden, epsilon=level.event.epsilon, sensitivity=level.change.l1)
        else:
            values = self.__noise.gaussian(hidden, rho=level.event.rho, sensitivity_squared=level.change.l2_squared)
        return np.asarray(values)

    def measure_together(self, asked: AskedTogether, event: Pure) -> MeasuredTogether:
        """The same with noise that is drawn for all numbers together, of many less than half of Laplace noise.

        **Privacy** epsilon-differentially private (`cube.py`): what counts is how far one unit moves any single number.
        It is no Laplace noise, and at no order is promised more of it than of anything pure.
        """
        _check(asked, AskedTogether)
        _check_event(event, Pure)
        furthest = asked.furthest(self.unit)
        self.__allowance.take(event)
        hidden = asked.counts(self.__counts)
        values = self.__noise.cube(hidden, epsilon=event.epsilon, sensitivity=furthest)
        return MeasuredTogether(asked, values, deviation(hidden.size, furthest / float(event.epsilon)))

    def choose(self, asked: AskedScores, event: Selection) -> int:
        """The place of a candidate, by the exponential mechanism.

        **Privacy** epsilon-differentially private, with the bounded range of a `Selection` (`noise.py`). Scores that a
        unit moves in one direction only are told apart twice as well at the same price.
        """
        _check(asked, AskedScores)
        _check_event(event, Selection)
        sensitivity, span = asked.sensitivity(self.unit), asked.span(self.unit)
        self.__allowance.take(event)
        if span < 2 * sensitivity:
            return self.__noise.select_within(asked.scores(self.__counts), epsilon=event.epsilon, span=span)
        return self.__noise.select(asked.scores(self.__counts), epsilon=event.epsilon, sensitivity=sensitivity)

    def choose_in_turn(self, asked: Covering, rounds: Generator[Round, int, Found], event: Greedy) -> Found:
        """What rounds of greedy choices find: each says what is offered, and is sent which of it was chosen.

        **Privacy** `greedy.py`; `Covering` sees to it that no cell counts twice and that there are no more rounds.
        """
        _check(asked, Covering)
        _check_event(event, Greedy)
        span = asked.span(self.unit)
        self.__allowance.take(event)

        def choose(scores: NDArray[np.int64]) -> int:
            return self.__noise.select_within(scores, epsilon=event.epsilon, span=span)

        return asked.drawn(self.__counts, rounds, event.choices, choose)

    def choose_ends(self, asked: AskedEnds, event: Selection) -> tuple[int, int]:
        """The places of two different numbers, the likelier the further the second is above the first.

        **Privacy** one exponential mechanism over all ordered pairs (`noise.py`).
        """
        _check(asked, AskedEnds)
        _check_event(event, Selection)
        sensitivity = asked.sensitivity(self.unit)
        self.__allowance.take(event)
        return self.__noise.select_pair(asked.ends(self.__counts), epsilon=event.epsilon, sensitivity=sensitivity)

    def choose_database(self, asked: PrefixDatabases, event: Selection) -> NDArray[np.int64]:
        """How many rows each piece of a column has in a small database, the likelier the better its worst prefix.

        **Privacy** one exponential mechanism over all databases of so many rows, drawn exactly (`databases/`).
        """
        _check(asked, PrefixDatabases)
        _check_event(event, Selection)
        self.__allowance.take(event)
        return asked.drawn(self.__counts, event.epsilon, self.__noise)

    def order(self, asked: AskedOrder, event: Pure) -> tuple[int, ...]:
        """All vertices of the graph that the rows are, in a random order.

        **Privacy** epsilon-differentially private: the padding of the order is held against the event here.
        """
        _check(asked, AskedOrder)
        _check_event(event, Pure)
        if asked.epsilon(self.unit) > event.epsilon:
            raise BadParameter("padding", "is too small for this epsilon.")
        self.__allowance.take(event)
        return asked.drawn(self.__counts, self.__noise.pick)

    def halve(self, asked: Crowding, event: Pure) -> tuple[Boxed, ...]:
        """The boxes in which rows crowd, step by step.

        **Privacy** epsilon-differentially private, however often boxes are halved (`crowding.py`).
        """
        _check(asked, Crowding)
        _check_event(event, Pure)
        asked.rate(event.epsilon, self.unit)
        asked.start(self.domain)
        self.__allowance.take(event)
        return asked.drawn(self.__counts, event.epsilon, self.unit, self.__noise.exceeds)

    def watch(self, sparse: NumericSparse) -> Watch:
        """Start a sparse vector: its first run is paid and its secret offset drawn. What is returned only names it.

        **Privacy** `sparse_vector.py`: a run is one `Pure` event, however many comparisons it makes.
        """
        _check(sparse, NumericSparse)
        _check(sparse.run, AboveThreshold)
        return self.__allowance.keep(sparse.start(self.__noise, self.__allowance.take))

    def test(self, watch: Watch, asked: Compared, threshold: int) -> tuple[Watch, bool]:
        """Whether a number comes out above its threshold, and what is left; above, a new run may begin and is paid."""
        _check(asked, Compared)
        level = max(-FURTHEST, min(FURTHEST, int(threshold)))

        def compare(run: OpenRun) -> bool:
            if asked.sensitivity(self.unit) > run.run.sensitivity:
                raise BadParameter("sensitivity", "of this sparse vector is smaller than what one unit changes.")
            return run.test(asked.value(self.__counts), level, self.__noise, self.__allowance.take)

        return self.__allowance.compare(watch, compare)

    def recoded(self, domain: Domain, recodings: Mapping[str, Recoding]) -> Kernel:
        """The same rows under another public schema, in which every column is a public function of one column.

        **Privacy** each row becomes one row, so neighbours stay neighbours; noise and reservation stay the same.
        """
        return Kernel(Recoded(self.__counts.counts, domain, recodings), self.__noise, self.__allowance)

    def __copy__(self) -> Kernel:
        raise TypeError("A kernel cannot be copied: its copy would spend the same reservation once more.")

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self.__copy__()

    def __reduce__(self) -> str:
        raise TypeError("A kernel cannot be sent to another process: it would spend the same reservation once more.")

    def generator(self) -> np.random.Generator:
        """Public randomness, for what is drawn from released numbers alone."""
        return self.__noise.generator()

    def keys(self, count: int) -> NDArray[np.uint64]:
        """Uniform words, for public coins that must be exact."""
        return self.__noise.keys(count)


def _check_event(event: Any, *kinds: type) -> None:
    if type(event) not in kinds:
        raise TypeError(f"{type(event).__name__} is not an event of this kind.")


def _check(asked: Any, kind: type[Sealed]) -> None:
    """Refuse what only looks like the kernel's own: its bound would be nobody's proof."""
    if not isinstance(asked, kind):
        raise TypeError(f"{type(asked).__name__} is not the kernel's own {kind.__name__}.")
