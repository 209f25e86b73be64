"""A table in its folder: what is stored, nothing raw, what a crash leaves, and damage that is refused."""

from __future__ import annotations

import itertools
import json
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain, Integers
from core.table import column_store
from core.table.table import Table
from tests.core.table.people import people, schema


def test_saved_and_opened(table: Table, tmp_path: Path) -> None:
    table.save(tmp_path / "deep" / "kept")
    again = Table.open(tmp_path / "deep" / "kept")
    assert (again.domain, again.unit, again.misfits) == (table.domain, table.unit, table.misfits)
    assert (again.fingerprint, again.dropped_rows, again.rows) == (table.fingerprint, 0, 2000)
    for name in table.domain.names:
        assert isinstance(again.codes[name], np.memmap)
        assert (again.codes[name] == table.codes[name]).all()
    assert (again.marginal(["age", "ill"]) == table.marginal(["age", "ill"])).all()
    assert os.listdir(tmp_path / "deep") == ["kept"]
    assert stat.S_IMODE((tmp_path / "deep" / "kept").stat().st_mode) == 0o700
    for file in (tmp_path / "deep" / "kept").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(BadFile, match="already"):
        table.save(tmp_path / "deep" / "kept")


def test_a_table_that_was_stored_with_its_types_is_read(table: Table, tmp_path: Path) -> None:
    table.save(tmp_path / "kept")
    facts = json.loads((tmp_path / "kept" / "table.json").read_text())
    assert facts["layout"] == list(table.domain.names)
    facts["layout"] = dict.fromkeys(facts["layout"], "SMALLINT")
    (tmp_path / "kept" / "table.json").write_text(json.dumps(facts))
    assert Table.open(tmp_path / "kept").layout == table.layout == table.domain.names


def test_no_raw_value_and_no_id_is_stored(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["id-of-somebody"], "town": ["a very private town"], "age": [54321]})
    domain = Domain((Categories(name="town", values=("Aa",), other="else"), Integers(name="age", low=0, high=99)))
    loaded = Table.load(frame, domain, Unit.id("id", 1), Noise())
    loaded.save(tmp_path / "kept")
    bytes_ = b"".join(file.read_bytes() for file in (tmp_path / "kept").iterdir())
    assert b"somebody" not in bytes_
    assert b"private" not in bytes_
    assert b"54321" not in bytes_
    assert "array" not in repr(loaded)


def test_a_crash_while_saving_leaves_nothing(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = itertools.count()

    def failing(file: object) -> None:
        if next(calls) == 3:
            raise OSError("disk full")

    monkeypatch.setattr(column_store, "_settle", failing)
    with pytest.raises(BadFile, match="cannot be stored"):
        table.save(tmp_path / "kept")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("harm", ["missing", "short", "dtype", "range", "json", "schema", "pickle", "empty"])
def test_a_damaged_folder_is_refused(table: Table, tmp_path: Path, harm: str) -> None:
    table.save(tmp_path / "kept")
    first, facts = tmp_path / "kept" / "0.npy", tmp_path / "kept" / "table.json"
    if harm == "missing":
        first.unlink()
    elif harm == "short":
        np.save(first, np.zeros(3, np.uint8))
    elif harm == "dtype":
        np.save(first, np.zeros(2000, np.uint16))
    elif harm == "range":
        np.save(first, np.full(2000, 200, np.uint8))
    elif harm == "json":
        facts.write_text("{")
    elif harm == "schema":
        facts.write_text(facts.read_text().replace("Aa", "Bb"))
    elif harm == "pickle":
        np.save(first, np.array([{}], dtype=object), allow_pickle=True)
    else:
        first.write_bytes(b"")
    with pytest.raises(BadFile, match="damaged"):
        Table.open(tmp_path / "kept")
    with pytest.raises(BadFile):
        Table.open(tmp_path / "nothing")


def test_drafts_that_a_killed_program_left_are_swept_and_those_of_others_are_not(tmp_path: Path) -> None:
    left = tmp_path / ".draft-left"
    left.mkdir()
    (left / "0.npy").write_bytes(b"codes")
    with column_store.draft(tmp_path) as first:
        first.begin({"a": np.dtype(np.uint8)}, 3)
        assert not left.exists()
        first.append("a", np.array([1, 2], dtype=np.uint8))
        with column_store.draft(tmp_path) as second:
            second.begin({"a": np.dtype(np.uint8)}, 0)
            assert len(os.listdir(tmp_path)) == 2
        first.append("a", np.array([3], dtype=np.uint8))
        assert first.columns()["a"].tolist() == [1, 2, 3]
    assert os.listdir(tmp_path) == []


def test_codes_go_to_the_workspace_while_rows_are_read(table: Table, tmp_path: Path) -> None:
    with column_store.draft(tmp_path) as draft:
        loaded = Table.load(people(), schema(), Unit.row(), Noise(), store=draft)
        assert all(isinstance(column, np.memmap) for column in loaded.codes.values())
        loaded.save(tmp_path / "kept", draft)
    assert os.listdir(tmp_path) == ["kept"]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "kept").iterdir()} == {0o600}
    opened = Table.open(tmp_path / "kept")
    assert {name: opened.codes[name].tolist() for name in opened.codes} == {
        name: table.codes[name].tolist() for name in table.codes
    }
