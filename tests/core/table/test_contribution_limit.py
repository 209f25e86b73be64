"""At most so many rows of one id are kept, chosen uniformly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Domain
from core.table import contribution_limit
from core.table.table import Table
from tests.core.table.people import people, schema


@pytest.mark.exhaustive
def test_at_most_limit_rows_per_id(sources: dict[str, object]) -> None:
    frame = people()
    for name in ("frame", "csv", "parquet", "duckdb"):
        for limit in (1, 3, 1000):
            loaded = Table.load(sources[name], schema(), Unit.id("id", limit), Noise())  # type: ignore[arg-type]
            kept = frame.groupby("id").size().clip(upper=limit).sum()
            assert loaded.rows == kept
            assert loaded.dropped_rows == len(frame) - kept
            assert sum(loaded.marginal(["age"])) == kept
            assert "id" not in loaded.codes


def test_the_kept_rows_are_chosen_uniformly() -> None:
    owners = np.repeat(np.arange(4000), 5)
    kept = contribution_limit.keep_smallest(owners, Noise().keys(len(owners)), 2)
    assert (np.diff(kept) > 0).all()
    assert (np.bincount(owners[kept]) == 2).all()
    counts = np.bincount(kept % 5, minlength=5)
    assert ((counts - 1600) ** 2 / 1600).sum() < 25  # chi-square with 4 degrees of freedom, far below 1 in 10,000


@given(
    rows=st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 2**64 - 1) | st.integers(0, 3)), max_size=40),
    limit=st.integers(1, 4),
)
def test_rows_are_kept_by_their_whole_keys(rows: list[tuple[int, int]], limit: int) -> None:
    owners = np.array([owner for owner, _ in rows], dtype=np.intp)
    keys = np.array([key for _, key in rows], dtype=np.uint64)
    smallest = [
        place
        for place, (owner, key) in enumerate(rows)
        if owner >= 0
        and sum((other, at) < (key, place) for at, (whose, other) in enumerate(rows) if whose == owner) < limit
    ]
    assert contribution_limit.keep_smallest(owners, keys, limit).tolist() == smallest


def test_one_more_id_changes_only_its_own_rows() -> None:
    keys = Noise().keys(600)
    owners = np.random.default_rng(1).integers(0, 50, 600)
    everyone = contribution_limit.keep_smallest(owners, keys, 4)
    rows = np.flatnonzero(owners != 17)
    others = rows[contribution_limit.keep_smallest(owners[rows], keys[rows], 4)]
    assert set(everyone[owners[everyone] != 17]) == set(others)


def test_rows_without_an_id_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text('id,ill\n1,1\n1,1\n,1\n"",1\n 1,1\n01,1\n')
    domain = Domain((Booleans(name="ill"),))
    loaded = Table.load(tmp_path / "ids.csv", domain, Unit.id("id", 1), Noise())
    assert (loaded.rows, loaded.dropped_rows) == (3, 3)  # '1', ' 1' and '01' are different ids
    frame = pd.DataFrame({"id": [3, "3", None, 3.0, ""], "ill": True})
    assert Table.load(frame, domain, Unit.id("id", 1), Noise()).rows == 1
    with pytest.raises(BadFile, match="'id'"):
        Table.load(pd.DataFrame({"id": [None], "ill": [True]}), domain, Unit.id("id", 1), Noise())
