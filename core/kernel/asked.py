"""What may be asked of a private table, and how far one unit of privacy can move each answer.

A kind of question is written in this folder or not at all: its `counts` are exact and are seen by the kernel alone, and
its `change` is what the noise is scaled to, so both belong to the code that an auditor reads. Everything else of a
question is public: columns, weights, planes, reference tables.

**Notation** A unit holds at most L = `unit.limit` rows. Neighbours differ by adding or removing a unit, or by replacing
one: removing up to L rows and adding up to L others. c(r) is what one row r adds to the answers, so that answers are
sums of c over rows. Then, if |c(r)| <= b in a norm, adding or removing moves the answers by at most L b and replacing
by at most 2 L b in that norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.privacy.unit import Unit

HOME = "core.kernel."


@dataclass(frozen=True)
class Change:
    """The most that one unit of privacy changes a list of whole numbers."""

    l1: int
    """Sum of absolute changes."""
    l2_squared: int
    """Sum of squared changes."""


class Sealed:
    """A base whose kinds are all written in the kernel, so that no mechanism brings a bound of its own."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__module__.startswith(HOME):
            raise TypeError(f"{cls.__name__}: a question of the kernel is written in the kernel, with its bound.")


class Asked(Sealed):
    """Whole numbers that can be measured with noise."""

    def counts(self, counts: Any) -> IntArray:
        """The exact numbers; for the kernel alone."""
        raise NotImplementedError

    def change(self, unit: Unit) -> Change:
        """How far one unit moves them at most; of several parts, any one part."""
        raise NotImplementedError

    @property
    def parts(self) -> int:
        """How many questions of this change they answer, one after the other, as many numbers each.

        They are counted together, because that is faster; each is paid with an event of its own and has its own noise.
        """
        return 1


class AskedTogether(Asked):
    """Numbers of which a unit moves each one by a little, and perhaps all: noise for them is best drawn together."""

    def furthest(self, unit: Unit) -> int:
        """How far one unit moves any single number at most."""
        raise NotImplementedError


class AskedScores(Sealed):
    """Scores of public candidates, between which the kernel chooses privately."""

    one_sided: ClassVar[bool] = False
    """Whether a row that is added moves all scores in the same direction, or leaves them."""

    def scores(self, counts: Any) -> IntArray:
        """The exact scores, the larger the better; for the kernel alone."""
        raise NotImplementedError

    def sensitivity(self, unit: Unit) -> int:
        """How far one unit moves any single score at most."""
        raise NotImplementedError

    def span(self, unit: Unit) -> int:
        """How far one unit moves the difference of two scores at most.

        Two scores that move by at most s each, in any direction, move apart by at most 2 s; in the same direction, by
        at most s. Where units are added or removed, one-sided scores move in the same direction; a replacement does
        both, one after the other.
        """
        apart = 1 if self.one_sided and unit.neighbours == "add-remove" else 2
        return apart * self.sensitivity(unit)


class AskedEnds(Sealed):
    """Numbers of which the kernel chooses two privately, by how far the second lies above the first."""

    def ends(self, counts: Any) -> IntArray:
        """The exact numbers; for the kernel alone."""
        raise NotImplementedError

    def sensitivity(self, unit: Unit) -> int:
        """How far one unit moves any difference of two of them at most."""
        raise NotImplementedError


class Compared(Sealed):
    """One whole number that a sparse vector compares with a public threshold."""

    def value(self, counts: Any) -> int:
        """The exact number; for the kernel alone."""
        raise NotImplementedError

    def sensitivity(self, unit: Unit) -> int:
        """How far one unit moves it at most."""
        raise NotImplementedError


DrawPlace = Callable[[IntArray], int]
"""Draws a place with probability in proportion to its whole weight, exactly."""


class AskedOrder(Sealed):
    """Public things that are put in an order by chances that depend on private rows."""

    def epsilon(self, unit: Unit) -> Fraction:
        """The largest loss of one unit, never rounded down."""
        raise NotImplementedError

    def drawn(self, counts: Any, pick: DrawPlace) -> tuple[int, ...]:
        """The order, drawn exactly; for the kernel alone."""
        raise NotImplementedError


def own(array: Any, name: str) -> IntArray:
    """A copy of whole numbers that nobody can change any more: what is checked is what is counted."""
    given = np.asarray(array)
    if given.dtype.kind not in "iub":
        raise BadParameter(name, "must be whole numbers.")
    copied = given.astype(np.int64)
    if given.dtype.kind == "u" and copied.min(initial=0) < 0:
        raise BadParameter(name, "must be whole numbers below 2^63.")
    copied.setflags(write=False)
    return copied


def largest_size(array: IntArray) -> int:
    """The largest number without its sign. Not by numpy: in 64 bits -2^63 is its own opposite, and looks small."""
    return max(int(array.max(initial=0)), -int(array.min(initial=0)))


def one_number(unit: Unit, each: int = 1) -> Change:
    """The change of one sum to which a row adds from 0 to `each`.

    Adding or removing L rows moves it by at most L each; a replacement lowers it by at most L each and raises it by at
    most L each, so it moves it by no more either.
    """
    moved = unit.limit * each
    return Change(moved, moved**2)
