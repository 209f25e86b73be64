"""Sparse vector, SVT (G section 5.2.2): many comparisons with a threshold, of which only those that are above cost.

A value is compared as value + noise >= threshold + offset. The *offset* is secret noise that is drawn once for a run
of comparisons and serves all of them; each comparison has fresh noise of its own, which is never released; a run ends
after `cutoff` comparisons that came out above; a number is released with fresh noise, never with that of a comparison.
Variants that leave out any of these have been published and are not private (Lyu, Su and Li 2017).

**Proof.** Everything is an integer. Let D be the largest change of a value between neighbouring tables, e1 and e2 the
two epsilons, c the cutoff; the offset z is discrete Laplace of scale D/e1, the noise v of a comparison of scale
2cD/e2. Fix a sequence of outcomes with at most c above. Given the outcomes so far the next value is a fixed function of
the table, also where an analyst or a hypothesis chose the question after seeing them. Write q and q' for a value on two
neighbours, t for its public threshold:

    P(outcomes) = sum over z of P(z) product over below of P(q + v < t + z) product over above of P(q + v >= t + z).

Replace z by z + D on the neighbour, which is a bijection of the integers because D is one:

- P(z) <= exp(e1) P(z + D);
- below: q + v < t + z gives q' + v < t + z + D, as q' <= q + D; so the factor does not fall, however many there are;
- above: q' + v >= t + z + D holds whenever v >= t + z - q + 2D, as q' >= q - D; and moving a discrete Laplace tail by
  2D costs at most a factor exp(2D e2/(2cD)) = exp(e2/c). There are at most c of them: exp(e2) together.

So a run is (e1 + e2)-differentially private: one `Pure(e1 + e2)` event. A comparison with a public hypothesis h has the
value |q - h|, or q - h and h - q one after the other: h is public, so each of them changes by at most D. Fresh numbers
do not involve z; they enter the product as factors of their own. With delta = 0 the bounds of all factors multiply, in
whatever order they come. With delta > 0 a run may go on while numbers, other sessions and releases come in between: an
interactive mechanism that is e-private can, for any two neighbours, be played from one randomised response of that e,
drawn when it starts (Vadhan and Wang 2021), so a run counts as one `Pure` event at its start and the rest is ordinary
adaptive composition. Several runs, each with an offset of its own, compose the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from core.base.errors import BadParameter, OutOfBudget
from core.kernel.asked import Sealed
from core.privacy.events import Cost, Event, Gaussian, Laplace, Pure
from core.privacy.noise import NoiseSource

WIDEST = 2.0**50
"""Largest scale of its noises: values and thresholds are clipped to 2^61 in size (`compared.py`), and beyond 2^62,
where noise is cut off, the proof's shift would meet an edge. Noise of this scale gets there with probability below
exp(-4096), which is counted as never."""
Pay = Callable[[Event], None]
"""Takes an event from what was reserved, or refuses."""


@dataclass(frozen=True, kw_only=True)
class AboveThreshold(Sealed):
    """One run of comparisons.

    **Privacy** (threshold_epsilon + comparing_epsilon)-differentially private for any number of comparisons, of which
    at most `cutoff` come out above (see the module's proof).

    **Accuracy** with scales s = D/threshold_epsilon and b = 2 cutoff D/comparing_epsilon, a value that exceeds its
    threshold by x is missed with probability at most (b^2 exp(-x/b) - s^2 exp(-x/s))/(2 (b^2 - s^2)), and one that is
    below by x is a false alarm with the same probability (`mechanisms/kit/comparing.py`).
    """

    threshold_epsilon: Fraction
    comparing_epsilon: Fraction
    sensitivity: int
    """D: the largest change of a compared value between neighbouring tables."""
    cutoff: int = 1

    def __post_init__(self) -> None:
        if self.threshold_epsilon <= 0 or self.comparing_epsilon <= 0:
            raise BadParameter("epsilon", "both parts of a sparse vector must be above 0.")
        _check_whole("cutoff", self.cutoff)
        _check_whole("sensitivity", self.sensitivity)
        if max(self.scales) > WIDEST:
            raise BadParameter("epsilon", "of a sparse vector is so small that its noise would exceed every count.")

    @classmethod
    def of(cls, epsilon: Fraction, *, sensitivity: int, cutoff: int = 1) -> AboveThreshold:
        """Split 1 : (2 cutoff)^(2/3), which minimises the variance s^2 + b^2 of a comparison."""
        ratio = Fraction((2 * cutoff) ** (2 / 3)).limit_denominator(10_000)
        first = epsilon / (1 + ratio)
        return cls(threshold_epsilon=first, comparing_epsilon=epsilon - first, sensitivity=sensitivity, cutoff=cutoff)

    @property
    def epsilon(self) -> Fraction:
        return self.threshold_epsilon + self.comparing_epsilon

    @property
    def scales(self) -> tuple[float, float]:
        """Scale of the offset and of the noise of a comparison."""
        return (
            float(self.sensitivity / self.threshold_epsilon),
            float(2 * self.cutoff * self.sensitivity / self.comparing_epsilon),
        )

    def offset(self, noise: NoiseSource) -> int:
        """The secret noise of a threshold, drawn once for a run."""
        return _drawn(noise, 0, self.threshold_epsilon, self.sensitivity)

    def above(self, value: int, threshold: int, offset: int, noise: NoiseSource) -> bool:
        """Whether the value comes out above its threshold; nothing else of it may be released."""
        noisy = _drawn(noise, value, self.comparing_epsilon / (2 * self.cutoff), self.sensitivity)
        return noisy >= threshold + offset

    def to_json(self) -> dict[str, Any]:
        return {
            "threshold": str(self.threshold_epsilon),
            "comparing": str(self.comparing_epsilon),
            "sensitivity": self.sensitivity,
            "cutoff": self.cutoff,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AboveThreshold:
        return cls(
            threshold_epsilon=Fraction(data["threshold"]),
            comparing_epsilon=Fraction(data["comparing"]),
            sensitivity=data["sensitivity"],
            cutoff=data["cutoff"],
        )


def _check_whole(name: str, number: object) -> None:
    """The proof counts in whole numbers: with others a run could pass its cutoff unnoticed."""
    if type(number) is not int or number < 1:
        raise BadParameter(name, "of a sparse vector must be a whole number of at least 1.")


def _drawn(noise: NoiseSource, value: int, epsilon: Fraction, sensitivity: int) -> int:
    return int(noise.laplace(np.array([value], dtype=np.int64), epsilon=epsilon, sensitivity=sensitivity)[0])


@dataclass(frozen=True)
class Watch:
    """What a mechanism holds of a sparse vector that is under way: all of it is public."""

    id: int
    left: int
    """How many more comparisons may come out above."""


@dataclass(kw_only=True)
class OpenRun:
    """A run of comparisons that is under way; for the kernel alone, which keeps it beside what was reserved."""

    run: AboveThreshold
    offset: int | None
    """SECRET: it never leaves the kernel and the session's file. None after the cutoff: nothing more is compared."""
    left: int
    """How many more comparisons may come out above, in this run and in those that follow it."""

    def test(self, value: int, threshold: int, noise: NoiseSource, pay: Pay) -> bool:
        """Whether the value comes out above its threshold; above, a new run may begin, with an offset of its own.

        An outcome counts before anything is paid: a run whose successor is refused has ended all the same.
        """
        if self.offset is None:
            raise OutOfBudget("This session has no measurement left; nothing was compared and nothing was spent.")
        if not self.run.above(value, threshold, self.offset, noise):
            return False
        self.left -= 1
        if self.left % self.run.cutoff == 0:
            self.offset = None
            if self.left:
                pay(Pure(self.run.epsilon))
                self.offset = self.run.offset(noise)
        return True

    def to_json(self) -> dict[str, Any]:
        """Everything the next comparison depends on, the secret included."""
        return {**self.run.to_json(), "offset": self.offset, "left": self.left}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OpenRun:
        return cls(run=AboveThreshold.from_json(data), offset=data["offset"], left=data["left"])


@dataclass(frozen=True, kw_only=True)
class NumericSparse(Sealed):
    """Runs of comparisons, one after the other, and a price for the number of each that came out above.

    **Privacy** `runs` events Pure(e1 + e2) and runs x cutoff events of fresh noise, all fixed beforehand (those of
    Gaussian noise are written as one, which is the same at every order). With delta =
    0 one run with the whole cutoff is best: everything adds up. With delta > 0 many runs of a small cutoff compose
    better: each costs about order (e1 + e2)^2/2.
    """

    run: AboveThreshold
    runs: int
    number: Laplace | Gaussian
    """Price of one released number."""

    def __post_init__(self) -> None:
        _check_whole("runs", self.runs)

    @property
    def most(self) -> int:
        """Numbers that can be released."""
        return self.runs * self.run.cutoff

    @property
    def cost(self) -> Cost:
        comparing = Cost((Pure(self.run.epsilon),) * self.runs)
        if isinstance(self.number, Gaussian):
            return comparing + Cost((Gaussian(self.number.rho * self.most),))
        return comparing + Cost((self.number,) * self.most)

    def start(self, noise: NoiseSource, pay: Pay) -> OpenRun:
        """The first run, paid as one event."""
        pay(Pure(self.run.epsilon))
        return OpenRun(run=self.run, offset=self.run.offset(noise), left=self.most)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.run.to_json(),
            "runs": self.runs,
            "laplace": str(self.number.epsilon) if isinstance(self.number, Laplace) else None,
            "gaussian": str(self.number.rho) if isinstance(self.number, Gaussian) else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NumericSparse:
        return cls(
            run=AboveThreshold.from_json(data),
            runs=data["runs"],
            number=Laplace(Fraction(data["laplace"])) if data["laplace"] else Gaussian(Fraction(data["gaussian"])),
        )
