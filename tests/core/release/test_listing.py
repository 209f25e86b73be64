"""Every announced table is in the download, in tidy columns, or named where there is no room for it."""

from __future__ import annotations

import io
import zipfile
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core import Budget, Desk, Marginals, Unit
from core.models.histogram import Histogram
from core.models.points import Points
from core.models.tables import Tables
from core.queries.rectangles import Rectangles
from core.release import listing as listing_module
from core.release.listing import INFERRED, MEASURED, ListedTable, Listing, announced, fitting, room_for
from core.release.release import Release
from core.schema.domain import Booleans, Categories, Domain, Integers
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL, small_cells

PAIRS = tuple(combinations(SMALL.names, 2))
HEADER = ["table", "colour", "size", "old", "count", "standard_error", "expected_error", "source"]


def tables_of(release: Release) -> pd.DataFrame:
    """The list, which must be the same in both files."""
    exact = pd.read_parquet(io.BytesIO(release.tables_parquet()))
    read = pd.read_csv(io.BytesIO(release.tables_csv()), dtype=dict.fromkeys(release.domain.names, str))
    pd.testing.assert_frame_equal(read, exact, check_dtype=False, check_categorical=False)
    return exact


def packed(model, sets=PAIRS) -> Release:
    return sealed(model, CERTIFICATE, SMALL.names, sets)


def points(seed: int = 0) -> Points:
    codes = np.random.default_rng(seed).integers(0, 2, (50, 3))
    return Points(SMALL, codes, np.full(50, 18.0))


def some_tables(seed: int = 0) -> Tables:
    drawn = points(seed)
    return Tables(
        SMALL,
        {PAIRS[1]: drawn.marginal(PAIRS[1]) + 0.25},
        drawn,
        {PAIRS[1]: 2.34567, ("old",): np.nan},
        {PAIRS[0]: 1.25},
    )


@pytest.mark.parametrize("model", [Histogram(SMALL, small_cells(900)), points(), some_tables()])
def test_every_announced_table_is_listed_as_the_release_answers(model):
    release = packed(model)
    listed = tables_of(release)
    assert list(listed.columns) == HEADER
    assert list(dict.fromkeys(listed["table"]))[:3] == [" x ".join(pair) for pair in PAIRS], "announced tables first"
    for pair in PAIRS:
        lines = listed[listed["table"] == " x ".join(pair)]
        labels = [[SMALL[name].label(code) for code in range(SMALL[name].size)] for name in pair]
        wanted = pd.MultiIndex.from_product(labels)
        assert pd.MultiIndex.from_frame(lines[list(pair)].astype(str)).equals(wanted.set_names(list(pair)))
        assert lines[[name for name in SMALL.names if name not in pair]].isna().all(axis=None)
        np.testing.assert_allclose(lines["count"], release.marginal(pair).ravel(), atol=1e-3)
    assert "unlisted" not in release.certificate.facts()


def test_the_list_says_what_was_measured_and_how_well():
    listed = tables_of(packed(some_tables())).groupby("table", observed=True)
    assert listed["source"].unique().map(list).to_dict() == {
        "colour x size": [INFERRED], "colour x old": [MEASURED], "size x old": [INFERRED],
    }  # fmt: skip
    assert listed["standard_error"].first().dropna().to_dict() == {"colour x old": 2.346}
    assert listed["expected_error"].first().to_dict() == {"colour x old": 1.5, "colour x size": 1.25, "size x old": 1.5}
    unknown = tables_of(packed(Histogram(SMALL, small_cells(900))))
    assert unknown["source"].isna().all() and unknown["standard_error"].isna().all(), "its model does not say"


def test_tables_that_are_mostly_noise_are_named():
    drawn = points()
    noisy = Tables(SMALL, {}, drawn, {}, {PAIRS[0]: 9.1, PAIRS[1]: 17.9, PAIRS[2]: 1.0})
    release = packed(noisy)
    assert drawn.total == 900, "12 x 9.1 / 2 is above 54 rows, 6 x 17.9 / 2 is below"
    assert release.certificate.doubtful == [PAIRS[0]]
    about = zipfile.ZipFile(io.BytesIO(release.zip())).read("README.txt").decode()
    assert about.endswith("cannot be trusted:\n  colour x size\n")
    assert "Mostly noise" in release.report().decode()
    assert "doubtful" not in packed(some_tables()).certificate.facts()


def test_the_model_answers_where_none_of_its_tables_does():
    """Whole records are less exact than the weighted ones of the model; all answers agree."""
    model = some_tables()
    release = packed(model)
    assert set(release.tables) == set(PAIRS)
    np.testing.assert_array_equal(release.marginal(PAIRS[0]), model.points.marginal(PAIRS[0]))
    assert packed(points()).tables == {}, "where a model publishes no table its records answer"


def test_what_has_no_room_is_named_everywhere(monkeypatch):
    monkeypatch.setattr(listing_module, "MOST_LINES", 15)
    release = packed(points())
    assert list(dict.fromkeys(tables_of(release)["table"])) == ["colour x old", "size x old"]
    assert release.certificate.unlisted == [("colour", "size")]
    assert Release(release.zip()).certificate.facts()["unlisted"] == [("colour", "size")]
    assert "1 table with too many cells: colour x size" in release.report().decode()
    about = zipfile.ZipFile(io.BytesIO(release.zip())).read("README.txt").decode()
    assert "end at 15 counts" in about and about.endswith("  colour x size (12 cells)\n")


def test_room_follows_from_the_schema_alone():
    assert fitting([("a", "b"), ("a",), ("b",)], Domain((_whole("a", 3), _whole("b", 2))), 7) == [("a",), ("b",)]
    wide = Domain(tuple(_whole(f"c{place}", 49) for place in range(35)))
    pairs = announced([Marginals(order=2)], wide)
    assert len(pairs) == 595 and fitting(pairs, wide, room_for(wide)) == list(pairs)
    asked = announced([Rectangles(columns=("b", "a")), Marginals(order=2)], Domain((_whole("a", 3), _whole("b", 2))))
    assert asked == (("a", "b"),), "each once, in the order of the schema"


def test_what_is_listed_does_not_follow_the_data():
    """Other records and other noise change counts, never lines; what was measured is told only where it was."""
    one, two = (tables_of(packed(some_tables(seed))) for seed in (1, 2))
    pd.testing.assert_frame_equal(one.drop(columns="count"), two.drop(columns="count"))
    assert not one["count"].equals(two["count"])


def test_names_of_the_schema_stay_apart_from_those_of_the_list():
    domain = Domain((Booleans(name="count"), Categories(name="table", values=("=1", "a, b"))))
    listing = Listing(domain, [ListedTable(domain.names, np.arange(4.0).reshape(2, 2))])
    assert listing.header == ("table_", "count", "table", "count_", "standard_error", "expected_error", "source")
    lines = b"".join(listing.csv()).decode().splitlines()
    assert lines[1:3] == ["count x table,false,'=1,0.0,,,", 'count x table,false,"a, b",1.0,,,']
    assert pq.read_table(io.BytesIO(listing.parquet())).column("table").to_pylist() == ["=1", "a, b"] * 2


@pytest.mark.exhaustive
def test_a_hundred_thousand_cells_are_listed_alike_in_both_files():
    domain = Domain(tuple(_whole(f"c{place}", 19) for place in range(35)))
    pairs = fitting(announced([Marginals(order=2)], domain), domain, 100_000)
    listing = Listing(domain, [ListedTable(pair, np.full((20, 20), 1234.567)) for pair in pairs])
    lines = sum(part.count(b"\n") for part in listing.csv())
    table = pq.read_table(io.BytesIO(listing.parquet()))
    assert lines - 1 == table.num_rows == 100_000


@pytest.mark.exhaustive
def test_the_flagship_lists_all_pairs_and_an_older_release_opens(tmp_path):
    desk = Desk(tmp_path / "workspace")
    flat = np.random.default_rng(0).choice(24, 400, p=small_cells(900).ravel() / 900)
    frame = SMALL.decode(np.stack(np.unravel_index(flat, SMALL.shape()), axis=1), np.random.default_rng(0))
    table = desk.add_table(frame, SMALL, unit=Unit.row(), budget=Budget(2, 1e-6))
    release = desk.release(desk.plan(table, [Marginals(order=2)], mechanism="tree", budget=Budget(2, 1e-6)))
    desk.close()
    listed = tables_of(release)
    assert list(dict.fromkeys(listed["table"]))[:3] == [" x ".join(pair) for pair in PAIRS]
    assert listed.loc[listed["table"] == "old", "source"].eq(MEASURED).all()
    assert (listed["standard_error"].dropna() > 0).all() and listed["standard_error"].notna().any()
    assert (listed["expected_error"] > 0).all(), "every table"
    members = zipfile.ZipFile(io.BytesIO(release.zip()))
    older = io.BytesIO()
    with zipfile.ZipFile(older, "w") as archive:
        for name in set(members.namelist()) - {"tables.parquet"}:
            archive.writestr(name, members.read(name))
    again = Release(older.getvalue())
    assert "tables.parquet" not in again.files and "tables.parquet" in release.files
    np.testing.assert_array_equal(again.marginal(("size",)), release.marginal(("size",)))


def _whole(name: str, high: int) -> Integers:
    return Integers(name=name, low=0, high=high)
