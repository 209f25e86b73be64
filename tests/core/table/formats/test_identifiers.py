"""Names and paths that try to end their quotes."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import BadSchema
from core.table.formats.identifiers import literal, quote

TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=20)


@pytest.mark.exhaustive
@given(text=TEXTS)
def test_whatever_it_is_it_stays_itself(text: str) -> None:
    with duckdb.connect(":memory:") as engine:
        found = engine.execute(f"SELECT {literal(text)} AS {quote(text)}")
        assert found.description[0][0] == text
        assert found.fetchall() == [(text,)]


@pytest.mark.parametrize("way", [quote, literal])
def test_no_end_in_the_middle(way: object) -> None:
    with pytest.raises(BadSchema, match="NUL"):
        way("a\0b")  # type: ignore[operator]
