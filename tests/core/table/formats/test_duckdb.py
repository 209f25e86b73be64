"""Files read in pieces; several Parquet files as one table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from core.table.files import ParquetFiles
from core.table.formats import duckdb_rows
from core.table.formats.duckdb_tables import LONGEST_LINE, TEXT_BUFFER, ParquetRows
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


def test_every_so_many_th_row_is_the_same_for_every_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part(tmp_path / "a.parquet", 0, 500)
    part(tmp_path / "b.parquet", 500, 500)
    monkeypatch.setattr(duckdb_rows, "PIECE", 300)
    ages: list[object] = []
    with opened(tmp_path) as rows:
        assert rows.take(["age", "town"]) == 1000
        read = 0
        for piece in rows.pieces([DOMAIN["age"], DOMAIN["town"]]):
            assert piece.count <= 300
            chosen = slice(-read % 7, None, 7)
            positions, found = piece.values("age", chosen)
            places, towns = piece.values("town", chosen)
            ages += [found[place] for place in positions]
            assert [towns[place] for place in places] == ["north" if found[at] % 2 else "south" for at in positions]  # type: ignore[operator]
            read += piece.count
    assert ages == list(range(0, 1000, 7))


KINDS = Domain(
    (
        Categories(name="town", values=("Aa", "Bb"), other="elsewhere", missing=True),
        Integers(name="age", low=0, high=99, missing=True),
        Reals(name="weight", low=0, high=150, bins=16, missing=True),
        Booleans(name="ill"),
        Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=12, missing=True),
        Categories(name="grade", values=(0, 1, 2), missing=True),
    )
)


def mixed(rows: int) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    odd = draw.choice(["7", " 8 ", "x", "", "1e1", None], rows)
    return pd.DataFrame(
        {
            "id": [None if value == 0 else int(value) for value in draw.integers(0, rows // 5, rows)],
            "town": draw.choice(["Aa", "Bb", "Cc", None], rows),
            "age": odd,
            "weight": np.where(draw.random(rows) < 0.1, np.nan, draw.normal(70, 30, rows).round(2)),
            "ill": draw.random(rows) < 0.2,
            "seen": pd.Timestamp("2019-12-01") + pd.to_timedelta(draw.integers(0, 500, rows), unit="D"),
            "grade": draw.integers(0, 4, rows),
        }
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("written", ["csv", "parquet"])
def test_pieces_and_groups_change_nothing(written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same codes, misfits, kept rows and sketch, however few rows are read or compared at a time."""
    frame, path = mixed(1000), tmp_path / f"people.{written}"
    if written == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=130)
    unit, found = Unit.id("id", 2), []
    for piece, group in ((1 << 15, 1 << 23), (64, 90)):
        monkeypatch.setattr(duckdb_rows, "PIECE", piece)
        monkeypatch.setattr(duckdb_rows, "GROUP", group)
        table = Table.load(path, KINDS, Unit.row(), Noise(), key="k" * 16)
        limited = Table.load(path, KINDS, unit, Noise(), key="k" * 16)
        codes = {name: column.tolist() for name, column in table.codes.items()}
        kept = frame["id"].dropna().value_counts().clip(upper=2).sum()
        assert (limited.rows, limited.dropped_rows) == (kept, 1000 - kept)
        assert limited.sketch is not None and table.sketch is not None
        found.append((codes, table.misfits, limited.misfits, limited.sketch.to_bytes(), table.sketch.to_bytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [int, str])
def test_all_rows_of_an_id_are_compared_together(kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [kind(value) for value in np.random.default_rng(5).integers(0, 100, 1000)]
    for place, part_of in enumerate((ids[:400], ids[400:])):
        pd.DataFrame({"id": part_of}).to_parquet(tmp_path / f"{place}.parquet", row_group_size=150)
    monkeypatch.setattr(duckdb_rows, "GROUP", 90)
    owners: dict[object, set[tuple[int, int]]] = {}
    with opened(tmp_path) as rows:
        rows.take(["id"])
        groups = list(rows.owners("id"))
    assert sorted(np.concatenate([numbers for numbers, _ in groups])) == list(range(1000))
    assert len(groups) == 6  # twice as many rows in each, because there would be 12
    for group, (numbers, places) in enumerate(groups):
        for number, owner in zip(numbers, places, strict=True):
            owners.setdefault(ids[number], set()).add((group, int(owner)))
    assert all(len(seen) == 1 for seen in owners.values())
    assert len(set.union(*owners.values())) == len(owners)


@pytest.mark.exhaustive
def test_a_long_text_makes_pieces_small_and_texts_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.parquet"
    pd.DataFrame({"town": ["x" * 100_000, *["north"] * 99]}).to_parquet(path)
    monkeypatch.setattr(duckdb_rows, "PIECE_BYTES", 1_000_000)
    with opened(path) as rows:
        rows.take(["town"])
        assert max(piece.count for piece in rows.pieces([DOMAIN["town"]])) == 9
    pd.DataFrame({"town": ["x" * 100_000] * 10_000}).to_parquet(path)
    assert path.stat().st_size < 200_000
    with opened(path) as rows, pytest.raises(BadFile, match="does not fit"):
        rows.take(["town"])


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    part(path, 0)
    with engine_for([path]) as engine:
        rows = ParquetRows(engine, [path])
        rows.take(["age"])
        part(path, 500, 51)
        with pytest.raises(BadFile, match="changed while it was read"):
            rows.fingerprint()


@pytest.mark.exhaustive
def test_lines_lie_across_the_buffers_that_a_text_file_is_read_with(tmp_path: Path) -> None:
    rows, path = 60_000, tmp_path / "people.csv"
    note = '"' + "several\nlines, " * 30 + '"'
    with path.open("w", encoding="utf-8") as file:
        file.write("age,note,ill\n")
        file.writelines(f"{row % 90},{note},{row % 7 == 0}\n" for row in range(rows))
    assert path.stat().st_size > 3 * TEXT_BUFFER
    domain = Domain((Integers(name="age", low=0, high=89), Booleans(name="ill")))
    table = Table.load(path, domain, Unit.row(), Noise())
    assert table.codes["age"].tolist() == [row % 90 for row in range(rows)]
    assert table.misfits == {"age": 0, "ill": 0}
    with path.open("a", encoding="utf-8") as file:
        file.write(f"1,{'x' * LONGEST_LINE},true\n")
    with pytest.raises(BadFile):
        Table.load(path, domain, Unit.row(), Noise())
