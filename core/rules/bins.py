"""The values that the cells of an ordered column hold: their least, their greatest, and the step between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.schema.domain import Attribute, Dates, Integers, Reals

NEAR = 1e-9
"""Of a step: what floating point may lose between a value and the grid of its column."""


@dataclass(frozen=True, eq=False)
class BinEnds:
    """Of each cell the least and the greatest value; NaN where a cell has none because it stands for 'missing'."""

    lows: Floats
    highs: Floats
    step: float
    """Between neighbouring values; 0 for real numbers of any precision."""

    @classmethod
    def of(cls, attribute: Attribute) -> BinEnds:
        assert isinstance(attribute, Integers | Reals | Dates)
        edges = attribute.edges.astype(np.float64)
        if not isinstance(attribute, Reals):
            return cls(_padded(edges[:-1], attribute), _padded(edges[1:] - 1, attribute), 1.0)
        if attribute.decimals is None:
            ends = np.append(np.nextafter(edges[1:-1], edges[0]), edges[-1])
            return cls(_padded(edges[:-1], attribute), _padded(ends, attribute), 0.0)
        step = 10.0**-attribute.decimals
        lows = step * np.ceil(edges[:-1] / step - NEAR)
        highs = step * np.append(np.ceil(edges[1:-1] / step - NEAR) - 1, np.floor(edges[-1] / step + NEAR))
        # A bin that holds no value of this precision keeps its own ends.
        empty = highs < lows - NEAR * step
        lows, highs = np.where(empty, edges[:-1], lows), np.where(empty, edges[1:], highs)
        return cls(_padded(lows, attribute), _padded(highs, attribute), step)


def _padded(values: Floats, attribute: Attribute) -> Floats:
    return np.append(values, np.nan) if attribute.missing else values
