"""Attacks on single publications, against loops and by what they must find."""

from __future__ import annotations

import numpy as np

from core.attacks.published import ExactTables, PublishedRecords, column_sets, counted
from core.table.counts import Cells
from tests.core.attacks.people import DOMAIN, invented


def distance(one, other) -> float:
    return sum(
        abs(int(a) - int(b)) / (each.size - 1) if each.ordered else float(a != b)
        for each, a, b in zip(DOMAIN, one, other, strict=True)
    )


def test_the_closest_record_is_found_as_by_hand():
    records, targets = invented(40), invented(25)
    found = PublishedRecords("some", DOMAIN, records).suspicions(targets, records)["closest record"]
    by_hand = [-min(distance(target, record) for record in records) for target in targets]
    assert np.allclose(found, by_hand, atol=1e-5)


def test_the_secret_is_what_the_closest_say():
    records = invented(60)
    found = PublishedRecords("some", DOMAIN, records).guesses(records, 6)["closest record"]
    for place, record in enumerate(records):
        same = (records[:, :6] == record[:6]).all(axis=1)
        assert found[place] == np.bincount(records[same, 6]).argmax()


def test_nobody_inside_falls_into_an_empty_cell():
    inside, outside = invented(300), invented(300)
    tables = ExactTables("tables", DOMAIN, inside)
    score = tables.suspicions(np.concatenate([inside, outside]), invented(300))["density"]
    assert (score[:300] > -1e5).all()
    elsewhere = [
        any(counted(DOMAIN, inside, columns)[tuple(row[list(columns)])] == 0 for columns in column_sets(DOMAIN, 4))
        for row in outside
    ]
    assert ((score[300:] < -1e5) == elsewhere).all() and np.mean(elsewhere) > 0.5


def test_tables_of_a_model_are_used_where_there_is_one():
    """A model that counts exactly tells members by pairs alone; the cells of the schema stay below two million."""
    small = DOMAIN.project(DOMAIN.names[:4])
    inside, outside = invented(150)[:, :4], invented(150)[:, :4]
    cells = np.zeros(small.shape(), dtype=np.int64)
    np.add.at(cells, tuple(inside.T), 1)
    told = PublishedRecords("model", small, outside, Cells(small, cells))
    scores = told.suspicions(np.concatenate([inside, outside]), invented(3_000)[:, :4])["density"]
    assert scores[:150].mean() > scores[150:].mean() + 0.3
    assert set(told.guesses(inside, 3)) == {"closest record", "density"}


def test_at_most_so_many_tables_of_a_wide_schema():
    assert len(column_sets(DOMAIN, 3)) == 35
    assert len(column_sets(DOMAIN, 2)) == 21
