"""Several Parquet files as one table, read a column at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.files import ParquetFiles
from core.table.formats.duckdb_tables import ParquetRows
from core.table.formats.engine import engine_for
from core.table.source import opened
from core.table.table import Table, inspect

DOMAIN = Domain.from_list(
    [
        {"name": "age", "kind": "integers", "low": 0, "high": 999},
        {"name": "town", "kind": "categories", "values": ["north", "south"]},
    ]
)


def part(path: Path, start: int, rows: int = 50) -> pd.DataFrame:
    ages = np.arange(start, start + rows)
    frame = pd.DataFrame({"age": ages, "town": np.where(ages % 2, "north", "south")})
    path.parent.mkdir(exist_ok=True, parents=True)
    frame.to_parquet(path)
    return frame


@pytest.mark.exhaustive
def test_a_folder_a_pattern_and_one_file_are_the_same_rows(tmp_path: Path) -> None:
    folder = tmp_path / "it's [one] folder"
    parts = [part(folder / "a.parquet", 0), part(folder / "year=2024" / "b.parquet", 50)]
    whole = tmp_path / "whole.parquet"
    pd.concat(parts).to_parquet(whole)
    unit = Unit.row()
    one = Table.load(whole, DOMAIN, unit, Noise())
    for source in (folder, str(tmp_path / "it*" / "**" / "*.parquet"), ParquetFiles.of(folder)):
        assert source is not None
        several = Table.load(source, DOMAIN, unit, Noise(), key="k" * 16)
        assert [column.name for column in inspect(source)] == ["age", "town"]
        for name in DOMAIN.names:
            assert several.codes[name].tolist() == one.codes[name].tolist()


def test_files_that_differ_or_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no Parquet file"):
        inspect(tmp_path)
    part(tmp_path / "a.parquet", 0)
    pd.DataFrame({"town": ["north"], "age": [3]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(BadFile, match="differ in the names, order or types"):
        inspect(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"age,town\n1,secret\n")
    with pytest.raises(BadFile, match="Parquet"):
        inspect(tmp_path)


def test_every_so_many_th_row_is_the_same_for_every_column(tmp_path: Path) -> None:
    part(tmp_path / "a.parquet", 0, 500)
    part(tmp_path / "b.parquet", 500, 500)
    with opened(tmp_path) as rows:
        assert rows.take(["age", "town"]) == 1000
        ages = np.asarray(rows.every("age", 7)[1])[rows.every("age", 7)[0]]
        positions, towns = rows.every("town", 7)
    assert ages.tolist() == list(range(0, 1000, 7))
    assert [towns[place] for place in positions] == ["north" if age % 2 else "south" for age in ages]


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    part(path, 0)
    with engine_for([path]) as engine:
        rows = ParquetRows(engine, [path])
        rows.take(["age"])
        part(path, 500, 51)
        with pytest.raises(BadFile, match="changed while it was read"):
            rows.fingerprint()
