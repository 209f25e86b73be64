import pytest

from core.base.errors import BadParameter, Unknown
from core.desk.kept import shared
from core.desk.kept.shared import LONGEST_NOTE, SharedItems
from core.desk.kept.small_files import SmallFiles


@pytest.fixture
def shelf(tmp_path):
    return SharedItems(SmallFiles(tmp_path / "shared"))


def test_what_is_put_is_found_newest_first(shelf):
    assert shelf.items() == []
    first = shelf.put("a1", kind="release", title=" Visits ", note="2024")
    second = shelf.put("b2", kind="session", title="Ask")
    assert [item.id for item in shelf.items()] == ["b2", "a1"] or first.since == second.since
    assert shelf.find("a1") == first
    assert first.title == "Visits"


def test_putting_again_changes_the_title_only_there(shelf):
    shelf.put("a1", kind="release", title="Old")
    shelf.put("a1", kind="release", title="New")
    assert [item.title for item in shelf.items()] == ["New"]


def test_other_words_leave_the_day_that_citations_name(shelf, monkeypatch):
    days = iter(("2026-01-01T00:00:00.000+00:00", "2027-01-01T00:00:00.000+00:00"))
    monkeypatch.setattr(shared, "_now", lambda: next(days))
    first = shelf.put("a1", kind="release", title="Visits")
    assert shelf.put("a1", kind="release", title="Visits by age").since == first.since
    shelf.take_down("a1")
    assert shelf.put("a1", kind="release", title="Visits by age").since > first.since


def test_what_is_taken_down_is_gone(shelf):
    shelf.put("a1", kind="release", title="Visits")
    shelf.take_down("a1")
    shelf.take_down("a1")
    assert shelf.items() == []
    assert shelf.find("a1") is None


def test_another_desk_sees_the_same_shelf(shelf, tmp_path):
    shelf.put("a1", kind="release", title="Visits")
    assert SharedItems(SmallFiles(tmp_path / "shared")).items() == shelf.items()


@pytest.mark.parametrize("identity", ["../ledger", "a/b", "", "A", "x" * 65, "a.json"])
def test_an_identity_cannot_leave_the_folder(shelf, identity):
    with pytest.raises(Unknown):
        shelf.put(identity, kind="release", title="x")
    with pytest.raises(Unknown):
        shelf.find(identity)


def test_bad_titles_and_notes_are_named(shelf):
    with pytest.raises(BadParameter, match="title"):
        shelf.put("a1", kind="release", title="  ")
    with pytest.raises(BadParameter, match="note"):
        shelf.put("a1", kind="release", title="x", note="n" * (LONGEST_NOTE + 1))
    assert shelf.items() == []


def test_foreign_files_are_passed_over(shelf, tmp_path):
    shelf.put("a1", kind="release", title="Visits")
    (tmp_path / "shared" / "junk.json").write_text("{", encoding="utf-8")
    (tmp_path / "shared" / "more.json").write_text("[]", encoding="utf-8")
    assert [item.id for item in shelf.items()] == ["a1"]
