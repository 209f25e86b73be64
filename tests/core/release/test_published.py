"""What is measured is what a reader gets: the source before sealing answers as the sealed release does."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.histogram import Histogram
from core.models.points import Points
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.release.drawn import Drawn
from core.release.sealing import seal
from tests.core.mechanisms.measured.test_measured import MEASURED
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.release.test_release import LAYOUT
from tests.core.samples import SMALL, small_cells

CODES = np.random.default_rng(2).integers(0, 2, (40, 3))


@pytest.mark.parametrize("model", [Histogram(SMALL, small_cells(900)), Points(SMALL, CODES, np.full(40, 3.0))])
def test_the_sealed_release_answers_alike(model):
    drawn = Drawn.of(model, CERTIFICATE.synthetic_rows, LAYOUT, np.random.default_rng(0))
    release = seal(drawn, CERTIFICATE)
    for query in (Marginals(order=2), Marginals(order=3), Intervals(column="size")):
        np.testing.assert_array_equal(query.answers(drawn.published), release.answers(query))
    focused = drawn.published.focused(SMALL.project(("size", "old")))
    np.testing.assert_array_equal(focused.marginal(("size",)), release.marginal(("size",)))
    assert focused.domain.names == ("size", "old")


def test_the_figures_are_in_certificate_and_report():
    release = sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE.with_measured(MEASURED), LAYOUT)
    assert release.measured == MEASURED
    assert release.certificate.facts()["measured"]["parts"][0]["within"] == MEASURED.parts[0].within
    assert MEASURED.headline() in release.report().decode()
    plain = sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE, LAYOUT)
    assert plain.measured is None
    assert "measured" not in plain.certificate.facts()
    assert "Measured" not in plain.report().decode()
