"""A kernel over four cells, and a sparse vector for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from core.kernel.compared import GRID
from core.kernel.kernel import Kernel
from core.kernel.sparse_vector import AboveThreshold, NumericSparse
from core.privacy.events import Cost, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.core.kernel.kinds import DOMAIN

ONE = Laplace(Fraction(1))


LOW = -(2**50)
"""A threshold that every comparison exceeds."""


def kernel(*events, noise=None, unit=None, cells=(5, 0, 2, 1), left=None):
    return Kernel(Cells(DOMAIN, np.array(cells), unit or Unit.row()), noise or Noise(), left or Cost.of(events))


def sparse_vector(sensitivity=GRID, **options):
    return NumericSparse(
        run=AboveThreshold.of(Fraction(1), sensitivity=sensitivity, cutoff=options.get("cutoff", 1)),
        runs=options.get("runs", 1),
        number=ONE,
    )
