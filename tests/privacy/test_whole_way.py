"""From a file to the ZIP, twice: on a table and, with the same answers of the noise, on a neighbour of it.

The neighbour differs by one hostile row: an outlier, an empty cell, a bad date, a longer text. Whatever its writer
makes of the storage types, the desk asks for the same noise, within the declared sensitivity, and releases the same
bytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.schema.domain import Booleans, Categories, Dates, Integers, Reals
from tests.privacy.recorder import Recorder
from tests.privacy.replay import check_steps, paired

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=99, bins=5),
        Categories(name="children", values=(0, 1, 2), other="more", missing=True),
        Categories(name="town", values=("Aa", "Bb"), other="elsewhere"),
        Reals(name="price", low=0, high=4, bins=4, missing=True),
        Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=4, storage="timestamp"),
        Dates(name="born", low="1990-01-01", high="2009-12-31", bins=4, missing=True),
        Booleans(name="ill"),
    )
)
TOTAL, PART = Budget(epsilon=2, delta=1e-9), Budget(epsilon=1, delta=1e-9)
PLAIN: dict[str, Any] = {
    "age": 34, "children": 1, "town": "Aa", "price": Decimal("1.5"), "seen": datetime(2020, 2, 3),
    "born": date(1999, 1, 2), "ill": True,
}  # fmt: skip
HOSTILE: dict[str, dict[str, Any]] = {
    "outlier": {"age": 300},
    "huge": {"age": 10**12, "price": Decimal("123456789.0125")},
    "fraction": {"age": 1.5},
    "null": dict.fromkeys(PLAIN),
    "bad date": {"seen": "unknown", "born": "n/a"},
    "moment": {"seen": datetime(2020, 2, 3, 4, 5, 6, 789), "born": datetime(1999, 1, 2, 3)},
    "far date": {"seen": datetime(9999, 1, 1), "born": date(1, 1, 1)},
    "long text": {"town": "x" * 5_000, "ill": "perhaps"},
    "other type": {"children": True, "age": "34", "price": 1.5, "ill": 1, "town": 7},
    "other spelling": {"price": Decimal("1.50"), "children": Decimal("1.0")},
    "bytes": {"town": b"\xff\xfe"},
    "nested": {"town": [1], "children": {"a": 1}},
}
KINDS: dict[str, Any] = {"age": "number", "town": "text", "children": "text", "seen": "date", "price": "number"}


def rows(count: int = 60) -> list[dict[str, Any]]:
    """Plain rows, two for each id, that every writer stores in the narrowest types."""
    return [
        {
            "id": row // 2, "age": row, "children": row % 3, "town": ("Aa", "Bb", "é")[row % 3],
            "price": Decimal(row % 8) / 2, "seen": datetime(2020, 1 + row % 12, 3),
            "born": date(1990 + row % 20, 1, 2), "ill": row % 4 == 0,
        }
        for row in range(count)
    ]  # fmt: skip


def neighbour(unit: Unit, hostile: dict[str, Any]) -> list[dict[str, Any]]:
    """One more row of a new id, or another row in the place of one."""
    found, odd = rows(), {"id": 1_000_000, **PLAIN, **hostile}
    if unit.neighbours == "replace":
        return [*found[:-1], {**odd, "id": found[-1]["id"]}]
    return [*found, odd]


def inferred(records: list[dict[str, Any]], folder: Path) -> Any:
    """As pandas infers types, with whole numbers in the narrowest one."""
    frame = pd.DataFrame(records)
    for name in frame.select_dtypes("integer"):
        frame[name] = pd.to_numeric(frame[name], downcast="integer")
    return frame


def objects(records: list[dict[str, Any]], folder: Path) -> Any:
    return pd.DataFrame(records, dtype=object)


def stored(records: list[dict[str, Any]]) -> pa.Table:
    """As Arrow infers types; a column that it cannot hold is stored as text."""
    frame, columns = inferred(records, Path()), {}
    for name in frame:
        try:
            columns[name] = pa.Array.from_pandas(frame[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([None if text in ("", "None") else text for text in map(str, frame[name])])
    return pa.table(columns)


def parquet(records: list[dict[str, Any]], folder: Path) -> Any:
    pq.write_table(stored(records), folder / "rows.parquet")
    return folder / "rows.parquet"


def comma(records: list[dict[str, Any]], folder: Path) -> Any:
    inferred(records, folder).to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def tab(records: list[dict[str, Any]], folder: Path) -> Any:
    objects(records, folder).to_csv(folder / "rows.tsv", index=False, sep="\t")
    return folder / "rows.tsv"


def database(records: list[dict[str, Any]], folder: Path) -> Any:
    with duckdb.connect(str(folder / "rows.duckdb")) as engine:
        engine.register("given", stored(records))
        engine.execute("CREATE TABLE people AS SELECT * FROM given")
    return (folder / "rows.duckdb", "people")


Writer = Callable[[list[dict[str, Any]], Path], Any]
WRITERS: tuple[Writer, ...] = (inferred, objects, parquet, comma, tab, database)
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("id", 2))


@pytest.fixture(autouse=True)
def one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate tells the day, which may change between two runs."""
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    monkeypatch.setattr("core.release.certificate.datetime", SimpleNamespace(now=lambda zone: moment))


def on_desk(work: Callable[[Desk], bytes], noise: Recorder, folder: Path, patch: pytest.MonkeyPatch) -> bytes:
    folder.mkdir()
    patch.setattr("core.desk.desk.Noise", lambda: noise)
    desk = Desk(folder / "workspace")
    try:
        return work(desk)
    finally:
        desk.close()


def replayed(
    work: Callable[[Desk, Any], bytes], writer: Writer, unit: Unit, hostile: str, folder: Path, patch: Any
) -> tuple[bytes, bytes]:
    recorded = Recorder(7)
    first = on_desk(lambda desk: work(desk, writer(rows(), folder / "first")), recorded, folder / "first", patch)
    again = Recorder(7, recorded.calls)
    changed = neighbour(unit, HOSTILE[hostile])
    second = on_desk(lambda desk: work(desk, writer(changed, folder / "second")), again, folder / "second", patch)
    check_steps(paired(recorded, again))
    return first, second


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_a_release_shows_nothing_of_a_hostile_row(
    writer: Writer, hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = UNITS[list(HOSTILE).index(hostile) % len(UNITS)]

    def release(desk: Desk, source: Any) -> bytes:
        held = desk.add_table(source, DOMAIN, unit=unit, budget=TOTAL, name="people")
        plan = desk.plan(held, [Marginals(order=2)], mechanism="gaussian", budget=PART, records=50)
        return desk.release(plan).zip()

    one, two = replayed(release, writer, unit, hostile, tmp_path, monkeypatch)
    assert members(one) == members(two)
    assert one == two
    types = [str(kind) for kind in pq.read_schema(io.BytesIO(members(two)["synthetic.parquet"])).types]
    assert sorted(types) == sorted(attribute_types())


def attribute_types() -> list[str]:
    return ["int64", "large_string", "large_string", "double", "timestamp[us]", "date32[day]", "bool"]


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("writer", [inferred, objects, parquet, database], ids=lambda writer: writer.__name__)
def test_bought_suggestions_show_nothing_of_a_hostile_row(
    writer: Writer, hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = UNITS[list(HOSTILE).index(hostile) % len(UNITS)]

    def discover(desk: Desk, source: Any) -> bytes:
        found = desk.discover(source, KINDS, unit=unit, total=Budget(epsilon=50), part=Budget(epsilon=40))
        return repr(found).encode()

    one, two = replayed(discover, writer, unit, hostile, tmp_path, monkeypatch)
    assert one == two


def test_the_neighbours_are_stored_in_other_types(tmp_path: Path) -> None:
    """Otherwise nothing above would be tested."""
    plain = {name: str(stored(rows()).schema.field(name).type) for name in PLAIN}
    moved: set[str] = set()
    for hostile in HOSTILE.values():
        table = stored(neighbour(Unit.row(), hostile))
        moved |= {name for name in PLAIN if str(table.schema.field(name).type) != plain[name]}
    assert moved == set(PLAIN)
