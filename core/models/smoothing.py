"""Take noise out of a table of counts over one ordered column, where neighbouring cells resemble each other.

Wavelet thresholding in its translation-invariant form (Coifman and Donoho 1995): sums and differences of neighbouring
blocks at all scales and all shifts; a difference that noise alone could explain is set to zero.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KEEN = 0.8
"""Share of Donoho's universal threshold; below 1 because what is kept is projected on the simplex afterwards."""


def smooth(counts: NDArray[np.number], sigma: float) -> Floats:
    """Counts with equal noise of standard deviation sigma in each cell, hard-thresholded in the Haar basis.

    The line is mirrored at its end, so that the two ends are not taken for neighbours. **Runtime** O(N log N).
    """
    values = np.asarray(counts, dtype=np.float64)
    cells = values.size
    if cells < 4:
        return values
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
