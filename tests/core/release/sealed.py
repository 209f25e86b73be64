"""A release of a model, without a desk: drawn and sealed as releases are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import Columns
from core.models.protocol import Model
from core.release.certificate import Certificate
from core.release.drawn import Drawn
from core.release.release import Release
from core.release.sealing import seal


def sealed(model: Model, certificate: Certificate, layout: Sequence[str], announced: Sequence[Columns] = ()) -> Release:
    """Always the same records of the same model."""
    drawn = Drawn.of(model, certificate.synthetic_rows, layout, np.random.default_rng(0), announced)
    return seal(drawn, certificate)
