"""What the local model cannot do: the barrier of section 6.2 of the thesis, as functions of sizes.

Equation 6.1 writes the parity of a set S of bits by conjunctions: the sum over nonempty T in S of (-2)^(|T| - 1) times
the share of records in which all bits of T are 1. Answers about conjunctions that are off by alpha therefore give
parities that are off by at most alpha (3^s - 1)/2 for s bits. Parities are hard for statistical queries, to which local
algorithms are equivalent (Kasiviswanathan et al. 2008), so conjunctions cannot all be released to a small error either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from core.base.errors import BadParameter
from core.theory.bound import whole

LEAST_DIMENSION = 16
"""Theorem 34 speaks of classes of at least this statistical-query dimension."""
MOST_BITS = 10_000


def loss_factor(bits: int) -> int:
    """(3^s - 1)/2: how much larger the error of a parity of s bits may be than that of the conjunctions it is made of.

    >>> [loss_factor(bits) for bits in (1, 2, 3, 10)]
    [1, 4, 13, 29524]
    """
    _bits(bits)
    return (3**bits - 1) // 2


def parity_error(bits: int, conjunction_error: float) -> float:
    """The largest error of a parity of s bits whose conjunctions are off by at most so much; 1 is the most there is."""
    if not conjunction_error >= 0:
        raise BadParameter("conjunction_error", "must be at least 0.")
    return min(1.0, loss_factor(bits) * conjunction_error)


def parity_from_conjunctions(shares: Mapping[frozenset[int], float], chosen: frozenset[int]) -> float:
    """Equation 6.1: the share of records whose bits in the set add up to an odd number.

    `shares` gives, for every nonempty subset, the share of records in which all of its bits are 1.
    """
    whole("bits", len(chosen))
    return sum(
        (-2) ** (size - 1) * shares[frozenset(subset)]
        for size in range(1, len(chosen) + 1)
        for subset in combinations(sorted(chosen), size)
    )


def parities(bits: int, largest: int) -> int:
    """Parities of at most `largest` of so many bits: also their statistical-query dimension (observation 35)."""
    _bits(bits)
    whole("largest", largest)
    return sum(math.comb(bits, size) for size in range(1, min(largest, bits) + 1))


@dataclass(frozen=True, kw_only=True)
class StatisticalQueryBound:
    """Theorem 34 (Blum et al. 1994): what learning a class of this dimension by statistical queries takes.

    With queries of tolerance d^(-1/3), at least d^(1/3)/2 of them are needed for an error below 1/2 - 1/d^3. By
    theorem 36 and corollary 37 the same holds for local algorithms that learn, or usefully release, parities.
    """

    dimension: int

    def __post_init__(self) -> None:
        whole("dimension", self.dimension, LEAST_DIMENSION)

    @property
    def tolerance(self) -> float:
        return self.dimension ** (-1 / 3)

    @property
    def queries(self) -> float:
        return self.dimension ** (1 / 3) / 2

    @property
    def error(self) -> float:
        return 0.5 - self.dimension**-3.0


def hidden_parity(error: float) -> int:
    """The largest s for which conjunctions with this error would still tell parities of s bits to within 1/4.

    >>> hidden_parity(0.01)
    3
    """
    if not 0 < error <= 0.25:
        raise BadParameter("error", "must be above 0 and at most 1/4.")
    bits = 1
    while parity_error(bits + 1, error) <= 0.25:
        bits += 1
    return bits


def conjunction_queries(bits: int, error: float) -> float:
    """Theorem 38: statistical queries that releasing conjunctions of so many bits to this error takes at least.

    Conjunctions of up to s = hidden_parity(error) bits would give parities of s bits to within 1/4, of which there are
    d = parities(bits, s); learning those takes d^(1/3)/2 queries. 0 where the theorem says nothing (d below 16).
    """
    dimension = parities(bits, hidden_parity(error))
    return 0.0 if dimension < LEAST_DIMENSION else StatisticalQueryBound(dimension=dimension).queries


def _bits(bits: int) -> None:
    whole("bits", bits)
    if bits > MOST_BITS:
        raise BadParameter("bits", f"must be at most {MOST_BITS:,}.")
