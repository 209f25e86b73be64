"""What is asked of columns without a schema, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.raw import END, Buckets, NextBytes
from core.kernel.tables import one_cell
from core.privacy.unit import Unit
from core.table.raw_columns import RawColumns, TextTally


def column(*texts: str | None) -> RawColumns:
    known = sorted({text for text in texts if text is not None})
    positions = np.array([-1 if text is None else known.index(text) for text in texts])
    tally = TextTally()
    tally.add(positions, known)
    return RawColumns({"x": tally.column()}, Unit.row())


def test_values_fall_between_their_edges_and_the_rest_comes_last():
    values = column("-1", "0", "0", "0.5", "1", "7", "x", "", None, None, "nan")
    found = Buckets("x", (0.0, 1.0), dates=False).counts(values)
    assert found.tolist() == [1, 3, 2, 5], "an edge belongs to what begins there"
    assert Buckets("x", (), dates=False).counts(values).tolist() == [6, 5]


def test_days_fall_between_their_edges():
    values = column("1969-12-31", "1970-01-01", "1970-01-02 03:00:00", "7", None)
    assert Buckets("x", (0.0, 1.0), dates=True).counts(values).tolist() == [1, 1, 1, 2]


def test_texts_go_on_by_their_next_byte_or_end():
    values = column("ab", "ab", "a", "b", " ac ", "", None, "\u00e9")
    first = NextBytes("x", (b"",)).counts(values)
    assert first.shape == (1, END + 1) and END == 256
    assert {place: often for place, often in enumerate(first[0].tolist()) if often} == {
        ord("a"): 4, ord("b"): 1, 0xC3: 1, END: 2,
    }  # fmt: skip
    second = NextBytes("x", (b"a", b"z", "\u00e9".encode()[:1])).counts(values)
    found = [{place: often for place, often in enumerate(line) if often} for line in second.tolist()]
    assert found == [{ord("b"): 2, ord("c"): 1, END: 1}, {}, {0xA9: 1}]


def test_no_beginning_asks_for_one_line_of_zeros():
    assert NextBytes("x", ()).counts(column("ab", None)).tolist() == [[0] * (END + 1)]


@pytest.mark.parametrize("beginnings", [(b"a", b"a"), (b"a", b"ab"), (b"", b"a")])
def test_a_text_has_at_most_one_of_the_beginnings(beginnings):
    with pytest.raises(BadParameter, match="beginnings"):
        NextBytes("x", beginnings)


def test_changes():
    unit = Unit.id("who", 3, "replace")
    assert Buckets("x", (), dates=False).change(unit) == NextBytes("x", ()).change(unit) == one_cell(unit)
