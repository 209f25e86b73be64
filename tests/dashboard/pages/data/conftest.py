"""A folder of the server that paths on the Data page may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.views.data import server_path


@pytest.fixture
def allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the server that may be read."""
    folder = tmp_path / "allowed"
    folder.mkdir()
    monkeypatch.setenv(server_path.VARIABLE, str(folder))
    return folder
