"""Planes in a release of the paper's mechanism: its medians beside its records, in the archive and on request."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.models.halfspace_median import Projections
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.schema.domain import Domain

ROWS = 20_000
ASKED = Halfspaces(columns=("x", "y"), directions=24)
FEWER = Halfspaces(columns=("x", "y"), directions=8)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory):
    generator = np.random.default_rng(5)
    frame = pd.DataFrame({name: np.clip(generator.normal(7, 3, ROWS), 0, 15).astype(int) for name in "xy"})
    desk = Desk(tmp_path_factory.mktemp("desk"), journal=Path(tmp_path_factory.mktemp("journal")))
    domain = Domain.from_list([{"name": name, "kind": "integers", "low": 0, "high": 15} for name in "xy"])
    return desk, desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(100, "1e-6")), frame


def truth(frame: pd.DataFrame, query: Halfspaces, domain: Domain) -> np.ndarray:
    """Rows beside each plane, from the scaled coordinates themselves."""
    points = [(frame[name] - 7.5) / 7.5 for name in "xy"]
    return np.array([sum(n * p for n, p in zip(normal, [*points, 1.0], strict=True)).ge(-1e-9).sum()
                     for normal in query.normals(domain)])  # fmt: skip


@pytest.mark.exhaustive
def test_medians_and_records_are_both_published(held, monkeypatch: pytest.MonkeyPatch):
    desk, table, frame = held
    plan = desk.plan(table, [ASKED, FEWER], mechanism="halfspace-projections", budget=Budget(20), dimension=3)
    medians: list[np.ndarray] = []
    real = Projections.halfspaces
    monkeypatch.setattr(
        Projections, "halfspaces", lambda model, normals: medians.append(real(model, normals)) or medians[-1]
    )
    release = desk.release(plan)
    for query, median in zip((ASKED, FEWER), medians, strict=True):
        found = release.planes(query)
        assert found is not None and len(found) == query.directions
        np.testing.assert_allclose(found["median"], median, atol=1e-3)
        np.testing.assert_allclose(found["records"], query.totals(release.published), atol=1e-3)
        # With the points' own dimension nothing is mixed up; beside the margin and the noise both are near the truth.
        right = truth(frame, query, release.domain)
        assert np.abs(found["median"] - right).mean() < 0.1 * ROWS
        assert np.abs(found["records"] - right).mean() < 0.1 * ROWS
    with zipfile.ZipFile(io.BytesIO(release.zip())) as archive:
        assert archive.read("halfspaces.csv").splitlines()[0] == b"class,plane,median,records"
        assert "halfspaces.csv" in archive.read("README.txt").decode()
    assert release.planes(Halfspaces(columns=("x", "y"), directions=9)) is None, "only what was asked for"


@pytest.mark.exhaustive
def test_other_mechanisms_have_records_only(held):
    desk, table, _ = held
    release = desk.release(desk.plan(table, [FEWER], mechanism="halfspace-fit", budget=Budget(1)))
    assert "halfspaces.csv" not in release.files and release.planes(FEWER) is None
