"""Bins by bounds alone: few, round, and always a schema."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.schema.bins import FEW, MOST, MOST_DECIMALS, propose, propose_decimals
from core.schema.domain import Domain


def test_round_steps_and_calendars() -> None:
    assert propose("integers", "0", "120") is None
    assert propose("integers", 1, 1000) == 100
    assert propose("reals", "-90", "90") == 90
    assert propose("reals", 0, 0.07) == 70
    assert propose("dates", "2024-01-01", "2024-03-31") is None
    assert propose("dates", "2024-01-01", "2024-12-31") == 52
    assert propose("dates", "1900-01-01", "2024-12-31") == 125
    for nothing in (("", ""), ("a", "b"), (3, 3), (5, 1), (0, float("inf"))):
        assert propose("reals", *nothing) is None
    assert propose("dates", "2024", "2025-01-01") is None
    assert propose("categories", 0, 10_000) is None


@given(low=st.integers(-(10**9), 10**9), width=st.integers(1, 10**9), kind=st.sampled_from(["integers", "reals"]))
def test_what_is_proposed_makes_a_schema(low: int, width: int, kind: str) -> None:
    bins = propose(kind, low, low + width)
    assert bins is None or 1 <= bins <= MOST
    assert (bins is None) == (kind == "integers" and width < FEW)
    if bins is not None:
        assert (
            Domain.from_list([{"name": "x", "kind": kind, "low": low, "high": low + width, "bins": bins}])["x"].size
            == bins
        )
        assert bins > MOST // 4


@given(low=st.floats(-1e9, 1e9), width=st.floats(1e-6, 1e9), bins=st.integers(1, 400))
def test_decimals_tell_values_of_a_bin_apart_and_no_more_than_a_thousand(low: float, width: float, bins: int) -> None:
    high = low + width
    decimals = propose_decimals(low, high, bins)
    assert decimals is not None and 0 <= decimals <= MOST_DECIMALS
    values = (high - low) / bins * 10.0**decimals
    assert values > 99 or decimals == MOST_DECIMALS
    assert values < 1_001 or decimals == 0


def test_no_decimals_without_bins() -> None:
    for nothing in ((0, 1, None), (0, 1, 0), (0, 1, "<NA>"), ("", 1, 5), (3, 3, 5), (5, 1, 5), (0, float("inf"), 5)):
        assert propose_decimals(*nothing) is None
