"""Statistics that are not linear in a release: the mechanism's own answers are published, and they are what it says."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.release.release import Release
from core.schema.domain import Domain

ASKED = Lipschitz(columns=("x", "y"), statistics=(("largest",), ("top", 2), ("difference", (0,), (1,))))
OTHER = Lipschitz(columns=("x",), statistics=(("largest",),))


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory):
    frame = pd.DataFrame({"x": [0] * 3_000 + [1] * 1_000, "y": [0, 1] * 2_000, "unasked": [0, 1, 1, 1] * 1_000})
    desk = Desk(tmp_path_factory.mktemp("desk"), journal=Path(tmp_path_factory.mktemp("journal")))
    domain = Domain.from_list([{"name": name, "kind": "integers", "low": 0, "high": 1} for name in frame])
    return desk, desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(100, "1e-6"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["game-databases", "iterative-median"])
def test_the_release_says_what_the_databases_say(held, name):
    desk, table = held
    release = desk.release(desk.plan(table, [OTHER, ASKED], mechanism=name, budget=Budget(10)))
    with zipfile.ZipFile(io.BytesIO(release.zip())) as archive:
        stored = pd.read_csv(io.BytesIO(archive.read("nonlinear.csv")))
        assert "nonlinear.csv" in archive.read("README.txt").decode()
    assert stored["class"].tolist() == [1, 2, 2, 2]
    rows = float(release.marginal(()).sum())
    np.testing.assert_allclose(release.answers([OTHER, ASKED]), stored["databases"] / rows)
    np.testing.assert_allclose(ASKED.totals(release.published) / 2, stored["records"][1:], atol=1e-3)
    if name == "game-databases":  # a median may be left with a single database
        assert not np.allclose(stored["databases"], stored["records"], atol=1e-3)
    np.testing.assert_allclose(release.answers(ASKED), [0.375, 0.75, 0.0], atol=0.15)
    again = Release(release.zip())
    np.testing.assert_array_equal(again.answers(ASKED), release.answers(ASKED))
    unasked = Lipschitz(columns=("y",), statistics=(("largest",),))
    np.testing.assert_allclose(release.answers(unasked), unasked.totals(release.published) / rows)


def test_other_releases_have_no_such_file(held):
    desk, table = held
    release = desk.release(desk.plan(table, [Marginals(order=1)], mechanism="game-databases", budget=Budget(1)))
    assert "nonlinear.csv" not in release.files
