"""Take noise out of counts along an ordered column that follow a smooth curve.

Counts are taken for a normal process about their mean, whose covariance falls with the distance between two cells, and
a roughness of each cell's own. The mean of each count given all noisy ones is exact (kriging: Rasmussen and Williams
2006, chapter 2), and is averaged over shapes, widths, heights and roughnesses by how well each explains the noisy
counts. A level that moves in steps (`hidden_levels.py`) does not know that a slope goes on, and this does not know
edges and spikes; each says how well it explains what it sees. Everything here is post-processing.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from core.base.arrays import Floats

LONGEST = 256
"""Cells for which a covariance is taken apart: that takes the third power of them, once for each number of cells."""
_WIDTHS = (1.5, 3.0, 6.0, 12.0, 24.0)
"""Distances, in cells, at which counts are still alike."""
_HEIGHTS = (0.5, 1.0, 2.0)
_ROUGH = (0.0, 0.1, 0.3)
"""Heights of the curve and roughnesses of single cells, in standard deviations of all cells."""


def explain(values: Floats, sigma: float) -> tuple[float, Floats]:
    """The logarithm of the density of noisy counts, and the mean of each count given all of them.

    The noise has the standard deviation sigma. **Runtime** O(cells^2) for columns of a size that was seen before.
    """
    middle, unit = float(values.mean()), max(float(values.std()), sigma)
    heights, rough = (unit * np.array(each) for each in zip(*product(_HEIGHTS, _ROUGH), strict=True))
    logs, means = [], []
    for spectrum, basis in _shapes(values.size):
        along = basis.T @ (values - middle)
        signal = heights[:, None] ** 2 * spectrum + rough[:, None] ** 2
        spread = signal + sigma**2
        logs.append(-(along**2 / spread + np.log(2 * math.pi * spread)).sum(axis=1) / 2)
        means.append(middle + (signal / spread * along) @ basis.T)
    every = np.concatenate(logs)
    total = float(logsumexp(every))
    return total - math.log(every.size), np.asarray(np.exp(every - total) @ np.concatenate(means))


@lru_cache(maxsize=64)
def _shapes(cells: int) -> tuple[tuple[Floats, NDArray[np.float64]], ...]:
    """Spectrum and basis of every covariance: normal in the distance, or of a curve that is smooth only once."""
    apart = np.abs(np.subtract.outer(np.arange(cells), np.arange(cells))).astype(np.float64)
    found = []
    for width in _WIDTHS:
        steps = math.sqrt(3) * apart / width
        for covariance in (np.exp(-((apart / width) ** 2) / 2), (1 + steps) * np.exp(-steps)):
            spectrum, basis = np.linalg.eigh(covariance)
            found.append((np.maximum(spectrum, 0.0), basis))
    return tuple(found)
