from __future__ import annotations

from pathlib import Path

import pytest

from core.sessions.kept.file import SessionFile
from tests.core.sessions.kept.stored import add


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


@pytest.fixture
def file(path: Path) -> SessionFile:
    file = SessionFile(path)
    add(file)
    return file
