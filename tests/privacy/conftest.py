"""Figures that plans are told with come from small trials here: these tests are about what happens to a plan."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick_figures(small_trials: None) -> None:
    """Trials are seeded by public facts, so that whether one was made before changes no draw of a test."""
