"""What is read from a row depends on that row alone: from every source, in every type, beside any other row.

Otherwise one person's record changes thousands of counts, and no noise for one person hides that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, reject, settings
from numpy.typing import NDArray

from core.base.errors import BadFile
from core.table import contribution_limit
from core.table.row_source import Rows
from core.table.source import opened
from tests.privacy.kit.columns import ATTRIBUTES, EXACT, REFUSED, ROUGH, Writer, changes, objects

NAMES = tuple(attribute.name for attribute in ATTRIBUTES)
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def written(writer: Writer, cells: list[Any], folder: Path) -> Any:
    try:
        return writer(cells, folder)
    except REFUSED:
        return None


def codes(rows: Rows) -> list[tuple[int, ...]]:
    """The codes of each row, in every kind of column."""
    found = []
    for piece in rows.pieces(ATTRIBUTES):
        columns = [piece.encode(attribute)[0].tolist() for attribute in ATTRIBUTES]
        found += list(zip(*columns, strict=True))
    return found


def texts(rows: Rows) -> list[str]:
    read = []
    for piece in rows.pieces(["id"]):
        positions, found = piece.texts("id")
        read += [found[place] if place >= 0 else "" for place in positions]
    return read


def owners(rows: Rows) -> NDArray[np.intp]:
    try:
        groups = list(rows.owners("id"))
    except BadFile:  # floats that cannot tell ids apart are refused
        return reject()
    found = np.full(sum(len(numbers) for numbers, _ in groups), -1, dtype=np.intp)
    for numbers, ids in groups:
        found[numbers] = np.where(ids < 0, -1, ids + found.max(initial=-1) + 1)
    return found


def pair(writer: Writer, before: list[Any], after: list[Any], folder: Path, read: Callable[[Rows], Any]) -> list[Any]:
    found = []
    for cells in (before, after):
        source = written(writer, cells, folder)
        assume(source is not None)
        with opened(source) as rows:
            rows.take(["id", *NAMES])
            found.append(read(rows))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("writer", [*EXACT, *ROUGH], ids=lambda writer: writer.__name__)
@given(change=changes())
@example(change=([1, 1, 2], [True, 1, 1, 2], [(0, 1), (1, 2), (2, 3)]))
@example(change=([1, 1, 2], [1, 1, None], [(0, 0), (1, 1)]))
@example(change=([1, 1, 2], [1, 1, [1]], [(0, 0), (1, 1)]))
@QUICK
def test_no_row_changes_the_codes_of_another(writer: Writer, folder: Path, change: Any) -> None:
    before, after, kept = change
    one, two = pair(writer, before, after, folder, codes)
    assert [one[old] for old, _ in kept] == [two[new] for _, new in kept]


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("writer", EXACT, ids=lambda writer: writer.__name__)
@given(change=changes())
@example(change=(["Aa", " Aa"], [b"Aa", "Aa", " Aa"], [(0, 1), (1, 2)]))
@QUICK
def test_no_row_changes_what_is_discovered_in_another(writer: Writer, folder: Path, change: Any) -> None:
    before, after, kept = change
    one, two = pair(writer, before, after, folder, texts)
    assert [one[old] for old, _ in kept] == [two[new] for _, new in kept]


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("writer", EXACT, ids=lambda writer: writer.__name__)
@given(change=changes())
@example(change=([True, 1, "1", 1.0], ["1", True, 1, "1", 1.0], [(0, 1), (1, 2), (2, 3), (3, 4)]))
@example(change=(["Aa", " Aa", " "], [b"Aa", "Aa", " Aa", " "], [(0, 1), (1, 2), (2, 3)]))
@QUICK
def test_no_row_merges_or_parts_other_people_or_changes_what_is_kept_of_them(
    writer: Writer, folder: Path, change: Any
) -> None:
    before, after, kept = change
    first, second = pair(writer, before, after, folder, owners)
    old_rows, new_rows = [old for old, _ in kept], [new for _, new in kept]
    alike_before = first[old_rows][:, None] == first[old_rows][None, :]
    alike_after = second[new_rows][:, None] == second[new_rows][None, :]
    assert np.array_equal(alike_before, alike_after)
    assert np.array_equal(first[old_rows] < 0, second[new_rows] < 0)
    # the same key for the same row: whoever owns no changed row keeps the same rows
    keys = np.random.default_rng(0).integers(1, 2**63, len(before) + len(after)).astype(np.uint64)
    moved = keys[len(before) :].copy()
    moved[new_rows] = keys[old_rows]
    stays = set(contribution_limit.keep_smallest(first, keys[: len(before)], 1).tolist())
    stays_after = set(contribution_limit.keep_smallest(second, moved[: len(after)], 1).tolist())
    touched = {first[row] for row in range(len(before)) if row not in old_rows}
    touched_after = {second[row] for row in range(len(after)) if row not in new_rows}
    for old, new in kept:
        if first[old] not in touched and second[new] not in touched_after:
            assert (old in stays) == (new in stays_after)


@pytest.mark.exhaustive
def test_the_writers_give_every_type_that_they_are_meant_to(tmp_path: Path) -> None:
    """A writer that refuses everything would let the properties above hold of nothing."""
    columns: list[list[Any]] = [[1, 2], [1, None], [1, 1.5], [True, None], ["é", "Aa"]]
    for writer in (*EXACT, *ROUGH):
        for cells in columns:
            assert written(writer, cells, tmp_path) is not None, (writer.__name__, cells)
    with opened(objects([True, 1, "1"], tmp_path)) as rows:
        assert texts(rows) == ["true", "1", "1"]
