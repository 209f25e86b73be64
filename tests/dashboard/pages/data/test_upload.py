"""Uploaded bytes touch the disk under our own name, for our own eyes, and only for a moment."""

from __future__ import annotations

import os
import stat
from io import BytesIO
from pathlib import Path

import pytest

from core.base.errors import BadFile
from dashboard.views.data import upload


class Upload(BytesIO):
    def __init__(self, name: str, content: bytes = b"a\n1\n") -> None:
        super().__init__(content)
        self.name = name


@pytest.mark.parametrize("name", ["people.csv", "../../people.csv", r"..\..\people.CSV", "/etc/passwd.csv", "x\0y.csv"])
def test_file_stays_inside_and_private(tmp_path: Path, name: str) -> None:
    with upload.on_disk(Upload(name), tmp_path) as path:
        assert path.parent == tmp_path / "incoming"
        assert path.stem.isalnum()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.read_bytes() == b"a\n1\n"
    assert not path.exists()


def test_file_is_removed_when_reading_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), upload.on_disk(Upload("a.csv"), tmp_path) as path:
        raise RuntimeError
    assert not path.exists()


@pytest.mark.parametrize("name", ["people.xlsm", "people", ".csv", "people.csv.zip", ""])
def test_other_kinds_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match="CSV, TSV, Excel, Parquet"), upload.on_disk(Upload(name), tmp_path):
        pass
    assert list(tmp_path.rglob("*.*")) == []


def test_names_for_display() -> None:
    assert upload.name_of("../../people.csv") == "people"
    assert upload.name_of("..\\people.tsv") == "people"
    assert upload.name_of("") == "table"


def test_sweep_removes_only_what_is_stale(tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    stale, fresh = folder / "a.csv", folder / "b.csv"
    stale.touch()
    fresh.touch()
    long_ago = stale.stat().st_mtime - 2 * upload.STALE_SECONDS
    os.utime(stale, (long_ago, long_ago))
    upload.sweep(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["b.csv"]
