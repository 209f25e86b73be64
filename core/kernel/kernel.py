"""The kernel: private counts, noise and a reserved spend in one object that gives away noisy numbers only.

A mechanism is handed a `Kernel` and nothing else of the table. It cannot read counts, hand over a sensitivity, draw
noise by itself or spend what was not reserved; so whatever it does, what it says is as private as its reservation. What
is left of that and the secrets of open comparisons are in the `Allowance`, which stays with whoever made the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter
from core.kernel.allowance import Allowance
from core.kernel.asked import Asked, AskedEnds, AskedScores, Compared, Sealed
from core.kernel.measurement import Additive, Measurement, NoiseLevel
from core.kernel.remembered import Remembered
from core.kernel.sparse_vector import AboveThreshold, NumericSparse, Watch
from core.privacy.events import Cost, Laplace, Selection
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts
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

    def measure(self, asked: Asked, event: Additive) -> Measurement:
        """What is asked, with noise scaled to its own change.

        **Privacy** Laplace(epsilon): epsilon-differentially private; Gaussian(rho): rho-zero-concentrated (`noise.py`).
        What consists of several parts is paid part by part: composition adds up.
        """
        _check(asked, Asked)
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

    def choose(self, asked: AskedScores, event: Selection) -> int:
        """The place of a candidate, by the exponential mechanism.

        **Privacy** epsilon-differentially private, with the bounded range of a `Selection` (`noise.py`).
        """
        _check(asked, AskedScores)
        sensitivity = asked.sensitivity(self.unit)
        self.__allowance.take(event)
        return self.__noise.select(asked.scores(self.__counts), epsilon=event.epsilon, sensitivity=sensitivity)

    def choose_ends(self, asked: AskedEnds, event: Selection) -> tuple[int, int]:
        """The places of two different numbers, the likelier the further the second is above the first.

        **Privacy** one exponential mechanism over all ordered pairs (`noise.py`).
        """
        _check(asked, AskedEnds)
        sensitivity = asked.sensitivity(self.unit)
        self.__allowance.take(event)
        return self.__noise.select_pair(asked.ends(self.__counts), epsilon=event.epsilon, sensitivity=sensitivity)

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
        run = self.__allowance.run(watch)
        if asked.sensitivity(self.unit) > run.run.sensitivity:
            raise BadParameter("sensitivity", "of this sparse vector is smaller than what one unit changes.")
        above = run.test(asked.value(self.__counts), int(threshold), self.__noise, self.__allowance.take)
        return Watch(watch.id, run.left), above

    def recoded(self, domain: Domain, recodings: Mapping[str, Recoding]) -> Kernel:
        """The same rows under another public schema, in which every column is a public function of one column.

        **Privacy** each row becomes one row, so neighbours stay neighbours; noise and reservation stay the same.
        """
        return Kernel(Recoded(self.__counts.counts, domain, recodings), self.__noise, self.__allowance)

    def generator(self) -> np.random.Generator:
        """Public randomness, for what is drawn from released numbers alone."""
        return self.__noise.generator()

    def keys(self, count: int) -> NDArray[np.uint64]:
        """Uniform words, for public coins that must be exact."""
        return self.__noise.keys(count)


def _check(asked: Any, kind: type[Sealed]) -> None:
    """Refuse what only looks like the kernel's own: its bound would be nobody's proof."""
    if not isinstance(asked, kind):
        raise TypeError(f"{type(asked).__name__} is not the kernel's own {kind.__name__}.")
