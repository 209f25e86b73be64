"""Columns as their distinct values: what a DataFrame of the same cells says, they say."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.schema.domain import Domain
from core.table.formats.packed_cells import PackedCells, chosen
from core.table.frame import Frame
from core.table.row_source import Column

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-3, 3) | st.just(float("nan")),
    st.sampled_from(["", " 1", "1", "1.0", "a", "2024-01-02"]),
    st.just(datetime(2024, 1, 2)),
)
DOMAIN = Domain.from_list(
    [
        {"name": "a", "kind": "categories", "values": [0, 1, "a"], "other": "other", "missing": True},
        {"name": "b", "kind": "reals", "low": -2, "high": 2, "bins": 4},
    ]
)


@pytest.mark.exhaustive
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12))
def test_the_same_as_a_frame(rows: list[tuple[object, object]]) -> None:
    packed = PackedCells(
        (Column("a", "VARCHAR"), Column("b", "VARCHAR")), lambda places: chosen(rows, places), lambda: ""
    )
    columns = {name: pd.Series([row[place] for row in rows], dtype=object) for place, name in enumerate("ab")}
    frame = Frame(pd.DataFrame(columns))
    assert packed.take(["b", "a", "b"]) == len(rows)
    [piece] = packed.pieces(list(DOMAIN))
    assert piece.count == len(rows)
    for attribute in DOMAIN:
        ours, theirs = piece.encode(attribute), frame.encode(attribute)
        assert ours[0].tolist() == theirs[0].tolist() and ours[1] == theirs[1]
    [(numbers, owners)], [(_, others)] = packed.owners("a"), frame.owners("a")
    assert numbers.tolist() == list(range(len(rows))) and _alike(owners, others)
    for name in "ab":
        positions, texts = piece.texts(name)
        others, found = frame.texts(name)
        assert [texts[place] if place >= 0 else "" for place in positions] == [
            found[place] if place >= 0 else "" for place in others
        ]
        assert len(piece.values(name, slice(0, None, 3))[0]) == len(range(0, len(rows), 3))


def _alike(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """The same rows belong together, and the same have no owner."""
    together = (ours[:, None] == ours) == (theirs[:, None] == theirs)
    return bool(together.all() and ((ours < 0) == (theirs < 0)).all())
