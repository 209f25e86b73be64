"""Files of Stata and SPSS: codes, dates, empty cells; types by what the file declares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.formats import survey_file
from core.table.table import Table, inspect

FRAME = pd.DataFrame(
    {
        "age": np.array([41, 12, 7], dtype=np.int16),
        "weight": [1.5, np.nan, 2.0],
        "sex": ["male", "x", ""],
        "day": pd.to_datetime(["2024-01-03", None, "2024-01-02"]),
        "work": pd.Categorical(["farm", "shop", "farm"]),
    }
)
DOMAIN = Domain.from_list(
    [
        {"name": "age", "kind": "integers", "low": 0, "high": 120},
        {"name": "weight", "kind": "reals", "low": 0, "high": 4, "bins": 4, "missing": True},
        {"name": "sex", "kind": "categories", "values": ["male", "female"], "other": "other", "missing": True},
        {"name": "day", "kind": "dates", "low": "2024-01-01", "high": "2024-01-31", "missing": True},
    ]
)


def files(folder: Path) -> list[Path]:
    for version in (114, 118):
        FRAME.to_stata(folder / f"{version}.dta", convert_dates={"day": "td"}, write_index=False, version=version)
    plain = FRAME.assign(work=[1, 2, 1])
    for name, packed in (("a.sav", False), ("b.zsav", True)):
        pyreadstat.write_sav(
            plain,
            folder / name,
            variable_value_labels={"work": {1: "farm"}},
            variable_format={"work": "F8.0"},
            compress=packed,
        )
    return sorted(folder.iterdir())


def test_both_programs_and_their_versions(tmp_path: Path) -> None:
    for path in files(tmp_path):
        types = {column.name: column.type for column in inspect(path)}
        assert types["age"] == "BIGINT" and types["weight"] == "DOUBLE" and types["sex"] == "VARCHAR", path
        assert types["day"] in ("DATE", "TIMESTAMP") and types["work"] == "BIGINT"
        table = Table.load(path, DOMAIN, Unit.row(), Noise())
        assert {name: column.tolist() for name, column in table.codes.items()} == {
            "age": [41, 12, 7], "weight": [1, 4, 2], "sex": [0, 2, 3], "day": [2, 31, 1]
        }, path  # fmt: skip


def test_codes_stay_codes(tmp_path: Path) -> None:
    domain = Domain.from_list([{"name": "work", "kind": "integers", "low": 0, "high": 2}])
    for path in files(tmp_path):
        found = Table.load(path, domain, Unit.row(), Noise()).codes["work"].tolist()
        assert found == ([0, 1, 0] if path.suffix == ".dta" else [1, 2, 1])


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in files(tmp_path):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadFile, match=r"cannot be read|no rows") as told:
            Table.load(path, DOMAIN, Unit.row(), Noise())
        assert told.value.__context__ is None
        path.write_bytes(whole)
        with monkeypatch.context() as less:
            less.setattr(survey_file, "MOST_BYTES", 100)
            with pytest.raises(BadFile, match="does not fit into memory"):
                Table.load(path, DOMAIN, Unit.row(), Noise())
        with monkeypatch.context() as without:
            without.setattr(survey_file, "installed", lambda: False)
            with pytest.raises(BadFile, match=r"release-desk\[survey\]"):
                inspect(path)


def test_labels_are_a_code_book_of_what_is_a_list(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0], "age": [31.0, 97.0], "score": [1.0, 2.0], "town": ["a", "b"]})
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        column_labels={"age": "Age in years"},
        variable_value_labels={
            "sex": {1.0: "female", 2.0: "male", 9.0: "refused"},
            "age": {97.0: "refused"},
            "score": {1.0: "low", 2.0: "high"},
            "town": {"a": "Aarau", "b": "b"},
        },
        missing_ranges={"sex": [9]},
        variable_measure={"score": "scale"},
    )
    assert survey_file.code_book(tmp_path / "a.sav", "spss") == [
        {"name": "sex", "kind": "categories", "values": [1, 2], "note": "1 = female, 2 = male"},
        {"name": "age", "note": "Age in years"},
        {"name": "town", "kind": "categories", "values": ["a", "b"], "note": "a = Aarau"},
    ]
    frame.to_stata(tmp_path / "a.dta", write_index=False, value_labels={"sex": {1: "female", 2: "male"}})
    [line] = survey_file.code_book(tmp_path / "a.dta", "stata")
    assert (line["name"], line["values"]) == ("sex", [1, 2])
