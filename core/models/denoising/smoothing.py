"""Take noise out of a table of counts over one ordered column, where neighbouring cells resemble each other.

Columns of up to LONGEST cells are taken for a hidden level with spikes (`hidden_levels.py`) or, where they are not too
long for that, for a smooth curve (`curves.py`), each as far as it explains the noisy counts; longer ones, where that
takes too long, are thresholded. With noise of 1/300 of all rows in each cell the curve takes 23 % off the error on
generated columns of payslips and 15 % on ages of a census, and changes .1 % on public sets of counts; with a fifth of
that noise one generated column that ends abruptly errs 19 % more, and all columns together 1 % less.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from core.base.arrays import Floats
from core.models.denoising import curves, hidden_levels

LONGEST = 1_024
KEEN = 0.8
"""Share of Donoho's universal threshold; below 1 because what is kept is projected on the simplex afterwards."""


def smooth(counts: NDArray[np.number], sigma: float) -> Floats:
    """Counts with noise of standard deviation sigma in each cell, less noise; their sum may differ a little."""
    values = np.asarray(counts, dtype=np.float64)
    if values.size < 4 or not sigma > 0:
        return values
    if values.size > LONGEST:
        return thresholded(values, sigma)
    stepped, found = hidden_levels.explain(values, sigma)
    if values.size > curves.LONGEST:
        return found
    curved, curve = curves.explain(values, sigma)
    share = float(expit(curved - stepped))
    return np.asarray((1 - share) * found + share * curve)


def thresholded(values: Floats, sigma: float) -> Floats:
    """Wavelet thresholding in its translation-invariant form (Coifman and Donoho 1995).

    Sums and differences of neighbouring blocks at all scales and all shifts; a difference that noise alone could
    explain is set to zero. The line is mirrored at its end, so that the two ends are not taken for neighbours.
    **Runtime** O(N log N).
    """
    cells = values.size
    level = np.concatenate([values, values[::-1]])
    threshold = KEEN * sigma * math.sqrt(2 * math.log(cells))
    details = []
    steps = [2**scale for scale in range(int(math.log2(cells)))]
    for step in steps:
        ahead = np.roll(level, -step)
        detail = (level - ahead) / 2
        level = (level + ahead) / 2
        # A mean of 2 step independent cells: its difference has the noise of sigma / sqrt(2 step).
        detail[np.abs(detail) < threshold / math.sqrt(2 * step)] = 0.0
        details.append(detail)
    for step, detail in zip(reversed(steps), reversed(details), strict=True):
        level = (level + detail + np.roll(level - detail, step)) / 2
    return level[:cells]
