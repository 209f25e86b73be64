"""Small files: read as written, whole or not at all, and never outside their folder."""

from pathlib import Path

import pytest

from core.base.errors import Unknown
from core.desk.kept.small_files import SmallFiles


def test_what_is_written_is_read_listed_and_removed(tmp_path: Path) -> None:
    files = SmallFiles(tmp_path / "kept")
    assert (files.read("a-1"), files.all()) == (None, [])
    files.write("a-1", {"name": "é"})
    files.write("a-1", {"name": "later"})
    assert files.read("a-1") == {"name": "later"} and files.all() == [{"name": "later"}]
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["a-1.json"], "nothing is left aside"
    files.remove("a-1")
    files.remove("a-1")
    assert files.read("a-1") is None


@pytest.mark.parametrize("content", ["{", "[]", "3", ""])
def test_what_was_not_written_here_is_passed_over(tmp_path: Path, content: str) -> None:
    (tmp_path / "b.json").write_text(content, encoding="utf-8")
    files = SmallFiles(tmp_path)
    assert files.read("b") is None and files.all() == []


def test_what_cannot_be_written_leaves_the_old_content(tmp_path: Path) -> None:
    files = SmallFiles(tmp_path)
    files.write("a", {"name": "old"})
    with pytest.raises(TypeError):
        files.write("a", {"name": object()})
    assert files.read("a") == {"name": "old"}


@pytest.mark.parametrize("identity", ["../a", "a/b", "", "A", "a.json", "x" * 65])
def test_an_identity_cannot_leave_the_folder(tmp_path: Path, identity: str) -> None:
    with pytest.raises(Unknown):
        SmallFiles(tmp_path).write(identity, {})
