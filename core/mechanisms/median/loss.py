"""The test of the median mechanisms: how well a public set of possible tables knows the answer to a question.

**The loss.** A public set of possible tables answers a question with f(S) rows for each member S, the private table
with f(D). T measures how well the set knows the answer by r = mean over S of exp(-|f(D) - f(S)|/w), where w = alpha n
rows. Here the same number is compared as the *loss* w (1 - r), in steps of 2^-16 of a row: each member's term is w (1 -
exp(-d/w)) with d = |f(D) - f(S)|, rounded down, and the mean is rounded down.

**Sensitivity of the loss: unit.limit rows, plus one step.** The set, w and every f(S) are public, so between
neighbours only f(D) moves, by at most L = unit.limit x 2^16 steps. w (1 - exp(-d/w)) grows by at most 1 for each step
of d, so a term moves by at most L before it is rounded. A computed term is off by less than 1/4 (widths are at most
2^46 steps and `expm1` is good to a few units in the last place), so two rounded terms differ by less than L + 3/2,
which for whole numbers is at most L + 1; means, and means rounded down, differ by no more. T's lemma 7 says 2/(alpha n)
for r, that is 2 L; the bound exp(x) <= 1 + 2x is not needed.

Nothing in this uses how the set was made. It may be any function of public randomness and of released answers: a net,
or wherever a random walk happens to be. The walk need not be mixed, or even walk, for the test to be private.

**Constants 'calibrated'.** The loss is compared with w/4 (r with 3/4) by sparse vector in its proven form, and the
number of a hard answer has fresh noise (`sparse_vector.py`): the cost is that of `NumericSparse`, whatever is asked.

**Constants 'thesis'.** As in T's figure 4.1: Laplace noise of scale 2 unit.limit/e' rows on every loss, of
scale unit.limit/e' rows on every hard number, a threshold 3/4 + j gamma with probability proportional to 2^-j, members
within alpha/50 stay, e' = epsilon/(720 m ln|X|). T proves (epsilon, tau)-privacy for n so large that thresholds are
mostly far from r (theorem 21; its step 'at least one half' is one third where the last threshold is reached, as the
weights 2^-j are cut off there, and tau is not explicit). This code does not rely on it: a question costs at most 2 e',
so the k planned questions together are 2 k e'-private by basic composition, for every n, every threshold and every set.
That is at most epsilon whenever k <= 360 m ln|X|, which m = 160,000 ln k ln(1/alpha)/alpha^2 makes true for nearly
every session that fits on a machine; others are refused. Questions beyond k are not compared.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.kernel.sparse_vector import GRID
from core.models.protocol import Floats

WIDEST = 2**46
"""Steps of the width, so that a computed loss is good to a quarter of a step: a thousand million rows."""


def loss(hidden: int, values: Floats, width: int) -> int:
    """The loss of a set of possible tables, in steps of the grid (see the module's text)."""
    distance = np.abs(np.rint(values * GRID).astype(np.int64) - hidden)
    each = np.floor(-width * np.expm1(-distance / width)).astype(np.int64)
    # The sum may exceed 64 bits, so its two halves are added apart.
    total = (int((each >> 20).sum()) << 20) + int((each & (2**20 - 1)).sum())
    return total // each.size


def margin_of(values: Floats, guess: float, width: float, limit: float, rows: float) -> float:
    """In rows: how far the truth can be from the guess if its loss is at most `limit`.

    The loss is a public function of the unknown truth, so the truths with a small loss can be looked up. A large set is
    represented by evenly spaced quantiles.
    """
    if limit >= width:
        return max(guess, rows - guess)
    some = np.quantile(values, np.linspace(0, 1, min(len(values), 255)))
    reach_of = -width * math.log1p(-limit / width)
    truths = np.linspace(max(0.0, float(some[0]) - reach_of), min(rows, float(some[-1]) + reach_of), 513)
    lost: NDArray[np.float64] = -width * np.expm1(-np.abs(truths[:, None] - some) / width).mean(axis=1)
    near = truths[lost <= limit]
    step = float(truths[1] - truths[0])
    return (float(np.abs(near - guess).max()) if near.size else 0.0) + max(step, 0.0)
