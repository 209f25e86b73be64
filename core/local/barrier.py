"""The barrier of section 6.2, measured: parities from conjunctions that invented people answered, beside the bound."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.base.errors import BadParameter
from core.local.randomisers.k_ary import KAryResponse
from core.local.randomisers.odds_ratio import checked, ratio_below
from core.privacy.noise import Noise
from core.theory.local import parity_error, parity_from_conjunctions

MOST_BITS = 8


@dataclass(frozen=True, kw_only=True)
class MeasuredBarrier:
    """Errors for the parity of s bits, as shares of the people."""

    bits: int
    conjunctions: float
    """The largest error of a conjunction of these bits."""
    bound: float
    """What equation 6.1 makes of it: (3^s - 1)/2 times as much."""
    from_conjunctions: float
    """The error of the parity that was computed from them."""
    asked_directly: float
    """The error when everybody is asked for the parity itself."""


def measured_barrier(epsilon: object, people: int, bits: int) -> MeasuredBarrier:
    """One run with invented people of random bits, divided among the 2^s - 1 conjunctions or all asked for one."""
    if not 1 <= bits <= MOST_BITS:
        raise BadParameter("bits", f"must be from 1 to {MOST_BITS}.")
    noise = Noise()
    invented = noise.generator().integers(0, 2, (people, bits), dtype=np.int64)
    response = KAryResponse(values=2, ratio=ratio_below(checked(epsilon)))
    sets = [frozenset(each) for size in range(1, bits + 1) for each in combinations(range(bits), size)]
    if people < len(sets):
        raise BadParameter("people", f"must be at least {len(sets)}, one for each conjunction.")
    told, off = {}, 0.0
    for place, chosen in enumerate(sets):
        truth = np.asarray(invented[:, sorted(chosen)].min(axis=1))
        told[chosen] = _share(response, truth[place :: len(sets)], noise)
        off = max(off, abs(told[chosen] - float(truth.mean())))
    parity = invented.sum(axis=1) % 2
    return MeasuredBarrier(
        bits=bits,
        conjunctions=off,
        bound=parity_error(bits, off),
        from_conjunctions=min(1.0, abs(parity_from_conjunctions(told, frozenset(range(bits))) - float(parity.mean()))),
        asked_directly=abs(_share(response, parity, noise) - float(parity.mean())),
    )


def _share(response: KAryResponse, answers: np.ndarray, noise: Noise) -> float:
    reports = response.randomise(np.asarray(answers, dtype=np.int64), noise)
    return float(response.unbiased(response.tally(reports), len(answers))[1])
