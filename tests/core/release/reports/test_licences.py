"""Names of licences as people write them."""

from __future__ import annotations

import pytest

from core.release.reports.licences import KNOWN, licence


@pytest.mark.parametrize(
    ("written", "spdx"),
    [("CC BY 4.0", "CC-BY-4.0"), ("cc-by-sa 4.0", "CC-BY-SA-4.0"), ("CC0", "CC0-1.0"), ("ODbL 1.0", "ODbL-1.0")],
)
def test_a_name_is_known_however_it_is_written(written: str, spdx: str) -> None:
    found = licence(written)
    assert found is not None and found.spdx == spdx


@pytest.mark.parametrize("written", ["", "CC BY", "CC BY 3.0", "CC BY 4.0 or our terms", "mine"])
def test_nothing_is_guessed(written: str) -> None:
    assert licence(written) is None


def test_every_licence_is_found_by_its_identifier_and_has_an_address() -> None:
    assert [licence(each.spdx) for each in KNOWN] == list(KNOWN)
    assert len({each.url for each in KNOWN}) == len(KNOWN)
    assert all(each.url.startswith("https://") for each in KNOWN)
