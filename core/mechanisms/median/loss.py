"""The test of the median mechanisms: how well a public set of possible tables knows the answer to a question.

**The loss.** A public set of possible tables answers a question with f(S) rows for each member S, the private table
with f(D). T measures how well the set knows the answer by r = mean over S of exp(-|f(D) - f(S)|/w), where w = alpha n
rows. Here the same number is compared as the *loss* w (1 - r), in steps of 2^-16 of a row. One unit moves it by at most
unit.limit rows and one step (`kernel/compared.py`, `Loss`). T's lemma 7 says 2/(alpha n) for r, that is twice as much;
the bound exp(x) <= 1 + 2x is not needed.

Nothing in this uses how the set was made: a net, or wherever a random walk happens to be. The walk need not be mixed,
or even walk, for the test to be private.

**Constants 'calibrated'.** The loss is compared with w/4 (r with 3/4) by sparse vector in its proven form, and the
number of a hard answer has fresh noise (`sparse_vector.py`): the cost is that of `NumericSparse`, whatever is asked.

**Constants 'thesis'.** As in T's figure 4.1: Laplace noise of scale 2 unit.limit/e' rows (and 2/e' steps) on every
loss, of scale unit.limit/e' rows on every hard number, a threshold 3/4 + j gamma with probability proportional to 2^-j,
members within alpha/50 stay, e' = epsilon/(720 m ln|X|). By T's bound the noise of a loss costs e'; by ours e'/2. T
proves (epsilon, tau)-privacy for n so large that thresholds are mostly far from r (theorem 21; its step 'at least one
half' is one third where the last threshold is reached, as the weights 2^-j are cut off there, and tau is not explicit).
This code does not rely on it: a question costs at most 3/2 e', so the 2 k e' that are declared cover the k planned ones
by basic composition, for every n, every threshold and every set. That is at most epsilon whenever k <= 360 m ln|X|,
which m = 160,000 ln k ln(1/alpha)/alpha^2 makes true for nearly every session that fits on a machine; others are
refused. Questions beyond k are not compared.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats

MOST_VALUES = 255


def margin_of(values: Floats, guess: float, width: float, limit: float, most: float) -> float:
    """In rows: how far the truth can be from the guess if its loss is at most `limit`; no truth exceeds `most`.

    The loss is a public function of the unknown truth, so the truths with a small loss can be looked up. A large set is
    represented by evenly spaced quantiles; as a function of a member's answer the loss falls and rises once, by at most
    the width, so its mean over so many quantiles is off by at most two widths divided by their number.
    """
    if len(values) > MOST_VALUES:
        limit += 2 * width / MOST_VALUES
    if limit >= width:
        return max(guess, most - guess)
    some = np.quantile(values, np.linspace(0, 1, min(len(values), MOST_VALUES)))
    reach_of = -width * math.log1p(-limit / width)
    truths = np.linspace(max(0.0, float(some[0]) - reach_of), min(most, float(some[-1]) + reach_of), 513)
    lost: NDArray[np.float64] = -width * np.expm1(-np.abs(truths[:, None] - some) / width).mean(axis=1)
    near = truths[lost <= limit]
    step = float(truths[1] - truths[0])
    return (float(np.abs(near - guess).max()) if near.size else 0.0) + max(step, 0.0)
