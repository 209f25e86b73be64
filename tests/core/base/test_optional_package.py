"""Packages that need not be there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.base.optional_package import can_load


def test_what_is_installed_loads_and_what_is_not_does_not() -> None:
    assert can_load("json")
    assert not can_load("no_such_package")


def test_a_package_without_the_library_it_needs_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_a_driver.py").write_text("raise ImportError('libdriver.so: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    assert not can_load("half_a_driver")
    assert "half_a_driver" not in sys.modules


def test_a_mistake_inside_a_package_is_not_taken_for_its_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_driver.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        can_load("broken_driver")
