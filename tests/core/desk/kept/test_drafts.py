"""Drafts: one curator's own, private on disk, gone when they are done or old."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from core.base.errors import BadFile, Unknown
from core.desk.kept import drafts
from core.desk.kept.drafts import Drafts

ANN, BOB = "a" * 64, "here"


@pytest.fixture
def kept(tmp_path: Path) -> Drafts:
    return Drafts(tmp_path / "drafts")


def aged(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_draft_comes_back_with_its_file(kept: Drafts) -> None:
    identity = kept.begin(ANN, ".csv", b"age\n1\n")
    kept.write(ANN, identity, {"name": "people"})
    kept.write(ANN, identity, {"name": "people", "grid": [1]})
    [found] = kept.of(ANN)
    assert (found.id, found.content) == (identity, {"name": "people", "grid": [1]})
    assert found.file is not None and found.file.read_bytes() == b"age\n1\n"
    assert kept.of(BOB) == []
    assert kept.file(BOB, identity) is None
    kept.remove(BOB, identity)
    assert found.file.exists(), "nobody removes what is another's"
    kept.remove(ANN, identity)
    assert kept.of(ANN) == [] and not found.file.exists()


def test_the_same_file_finds_its_draft(kept: Drafts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "PIECE", 4)
    content = b"age\n1\n22\n"
    identity = kept.begin(ANN, ".csv", content)
    kept.write(ANN, identity, {"name": "people"})
    found = kept.of_file(ANN, ".csv", memoryview(content))
    assert found is not None and found.id == identity
    for other in (b"age\n1\n23\n", content[:-1], content + b"\n", b""):
        assert kept.of_file(ANN, ".csv", other) is None
    assert kept.of_file(ANN, ".tsv", content) is None
    assert kept.of_file(BOB, ".csv", content) is None, "nobody learns what another has uploaded"


def test_files_are_for_their_owner_only(kept: Drafts) -> None:
    identity = kept.begin(ANN, ".csv", b"age\n1\n")
    kept.write(ANN, identity, {})
    for path in (kept.folder / ANN).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((kept.folder / ANN).stat().st_mode) == 0o700


def test_what_nobody_came_back_for_is_removed(kept: Drafts) -> None:
    fresh, old, orphan = (kept.begin(ANN, ".csv", b"x") for _ in range(3))
    for identity in (fresh, old):
        kept.write(ANN, identity, {})
    place = kept.folder / ANN
    aged(place / f"{fresh}.csv", 2 * drafts.DAYS * 86400)
    aged(place / f"{old}.json", drafts.DAYS * 86400 + 60)
    aged(place / f"{orphan}.csv", drafts.ORPHAN_SECONDS + 60)
    aged(place / f"{old}.csv", drafts.DAYS * 86400 + 60)
    kept.sweep()
    kept.sweep()
    assert sorted(path.stem for path in place.iterdir()) == [fresh, fresh]


def test_the_oldest_makes_room(kept: Drafts) -> None:
    for place in range(drafts.MOST + 2):
        identity = kept.begin(ANN, ".csv", b"x")
        kept.write(ANN, identity, {"place": place})
        aged(kept.folder / ANN / f"{identity}.json", 100 - place)
    kept.write(ANN, kept.begin(ANN), {"place": "last"})
    assert [draft.content["place"] for draft in kept.of(ANN)] == ["last", 6, 5, 4, 3]
    assert len(list((kept.folder / ANN).glob("*.csv"))) == drafts.MOST - 1


def test_names_are_no_paths(kept: Drafts) -> None:
    for bad in ("../x", "", "A", "a/b", "*"):
        with pytest.raises(Unknown):
            kept.of(bad)
        with pytest.raises(Unknown):
            kept.remove(ANN, bad)
    with pytest.raises(BadFile):
        kept.begin(ANN, "/../x", b"")


def test_plans_of_a_table(kept: Drafts) -> None:
    assert kept.plan(ANN, "t1") is None
    kept.write_plan(ANN, "t1", "{}")
    assert (kept.plan(ANN, "t1"), kept.plan(BOB, "t1")) == ("{}", None)
    kept.sweep()
    kept.remove_plan(ANN, "t1")
    assert kept.plan(ANN, "t1") is None
