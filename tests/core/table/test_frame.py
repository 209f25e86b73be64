"""DataFrames as a source: mixed values, ids, and types that a single row decides."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.base.errors import BadFile, BadSchema
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain
from core.table.frame import Frame
from core.table.source import opened
from core.table.table import Table

CHILDREN = Domain((Categories(name="children", values=(0, 1, 2), other="more", missing=True),))


def mixed(*cells: object) -> pd.DataFrame:
    return pd.DataFrame({"children": pd.Series(list(cells), dtype=object)})


def codes(*cells: object) -> list[int]:
    return list(Table.load(mixed(*cells), CHILDREN, Unit.row(), Noise()).codes["children"])


def test_one_record_does_not_move_the_others() -> None:
    assert codes(*[1] * 2_491) == [1] * 2_491
    for odd in (True, 1.0, Decimal("1.0"), [1], None, "x", 10**400, np.int8(1)):
        assert codes(odd, *[1] * 2_491)[1:] == [1] * 2_491
        assert codes(*[1] * 2_491, odd)[:-1] == [1] * 2_491


def test_ids_of_mixed_types_are_told_apart_by_their_own_text() -> None:
    rows = Frame(mixed(1, True, "1", 1.0, Decimal("1.50"), Decimal("1.5"), None, "", float("nan"), " 1"))
    [(_, owners)] = rows.owners("children")
    found = owners.tolist()
    assert found[0] == found[2] == found[3] != found[1]
    assert found[4] == found[5]
    assert found[6] == found[7] == found[8] == -1
    assert len({found[0], found[1], found[4], found[9]}) == 4


def test_floats_that_cannot_tell_ids_apart_are_refused(tmp_path: Path) -> None:
    whole = pd.DataFrame({"id": [2**53, 2**53 + 1], "ill": [True, False]})
    domain, unit = Domain((Booleans(name="ill"),)), Unit.id("id", 1)
    assert Table.load(whole, domain, unit, Noise()).rows == 2
    with duckdb.connect(str(tmp_path / "ids.duckdb")) as engine:
        engine.register("given", whole.astype({"id": float}))
        engine.execute("CREATE TABLE people AS SELECT * FROM given")
    for source in (whole.astype({"id": float}), whole.astype({"id": "Float64"}), (tmp_path / "ids.duckdb", "people")):
        with pytest.raises(BadFile, match="too large for floats"):
            Table.load(source, domain, unit, Noise())
    assert Table.load(pd.DataFrame({"id": [1.0, np.nan], "ill": [1, 0]}), domain, unit, Noise()).rows == 1


def test_an_id_that_is_no_number_is_no_id(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "ids.duckdb")) as engine:
        engine.execute("CREATE TABLE people AS SELECT unnest(['nan', '0', '-0', '2.5']::DOUBLE[]) AS id")
    with opened((tmp_path / "ids.duckdb", "people")) as rows:
        rows.take(["id"])
        [(_, owners)] = rows.owners("id")
        found = owners.tolist()
    assert found[0] == -1
    assert found[1] == found[2] != found[3]


def test_columns_of_lists_are_refused_by_their_type() -> None:
    column = pd.Series([{"a": 1}], dtype=pd.ArrowDtype(pa.struct({"a": pa.int64()})))
    with pytest.raises(BadSchema, match="'children' holds lists or records"):
        Table.load(pd.DataFrame({"children": column}), CHILDREN, Unit.row(), Noise())


def test_a_table_is_recognised_after_an_update() -> None:
    """Fingerprints of plain columns must never change: the budget of stored tables hangs on them."""
    frame = pd.DataFrame({
        "n": [1, 2, 1], "x": [0.5, np.nan, 3.0], "t": ["a", None, " a"], "b": [True, False, True],
        "d": pd.to_datetime(["2020-01-01", "2020-01-02 03:04:05", None], format="ISO8601"),
    })  # fmt: skip
    assert Frame(frame).fingerprint() == "4807da07f825be1e65546a2b074c5314b856c3e7988eb730adc531f6cdcb5c87"
    assert Frame(mixed(1, 1)).fingerprint() != Frame(mixed(1, True)).fingerprint()


def test_reading_hostile_numbers_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert codes(1e300, np.float32(3e38), Decimal("1E+999999"), Decimal("sNaN"), 1 + 0j) == [3, 3, 3, 4, 1]


def test_no_cell_is_refused_for_what_it_holds() -> None:
    assert codes("half a character\ud800", [1], {"a": 1}, object(), 2) == [3, 3, 3, 3, 2]
