"""The few types of arrays, and of lists of columns, that everything else is written in."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
"""Counts, places, exact sums."""
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]
"""Records as codes, one line per record, one column per attribute."""
Columns = tuple[str, ...]
"""Names of columns, in the order of the axes of a table over them."""
Number = TypeVar("Number", np.int64, np.float64)
"""Whole numbers or reals, whichever came in."""
