"""The gallery: reproducible, small, and each table is what it is there for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.schema.domain import Domain
from dashboard.views.data.gallery import GALLERY

DATA = Path(__file__).resolve().parents[2] / "data"
NAMES = [table.name for table in GALLERY[1:]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    subprocess.run([sys.executable, DATA / "make_gallery.py", folder], check=True, timeout=120)
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_reproducible_small_and_fits_its_schema(written: Path, name: str) -> None:
    for file in (f"{name}.csv", f"{name}.schema.json"):
        assert (written / file).read_bytes() == (DATA / file).read_bytes()
    assert (DATA / f"{name}.csv").stat().st_size < 500_000
    text = (DATA / f"{name}.schema.json").read_text(encoding="utf-8")
    domain, frame = Domain.from_json(text), pd.read_csv(DATA / f"{name}.csv")
    assert domain.to_json() + "\n" == text
    assert tuple(frame.columns) == domain.names
    assert all(attribute.note for attribute in domain)
    misfits = {each: int(domain[each].encode(frame[each])[1].sum()) for each in domain.names}
    assert max(misfits.values()) < 0.01 * len(frame)


def test_each_is_of_its_kind() -> None:
    trips, pupils, homes = (pd.read_csv(DATA / f"{name}.csv") for name in NAMES)
    assert {"start_east", "start_north", "end_east", "end_north"} <= set(trips)
    assert len(pupils) == 1_306
    assert homes.shape[1] == 35
    assert np.corrcoef(pupils.maths, pupils.language)[0, 1] > 0.6, "there is something to lose"
    assert homes[["heating", "damp"]].corr().iloc[0, 1] > 0.3
