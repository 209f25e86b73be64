"""Figures in words: simple, and never better than they are."""

from __future__ import annotations

from dataclasses import replace

from core.mechanisms.measured.measured import Measured, MeasuredErrors

ANSWERS = MeasuredErrors(about="some ranges", number=55, within=0.00701, mean=0.002, mean_low=0.0011, mean_high=0.0041)
TABLES = replace(ANSWERS, about="91 tables", number=91, count_within=0.001)
MEASURED = Measured(share=0.02, rows=30_000, rows_low=29_000, rows_high=31_000, parts=(TABLES, ANSWERS))


def test_the_headline_is_the_first_figure():
    assert MEASURED.headline() == "Measured: all counts of 91 tables within 0.1 % (95 %)."
    assert replace(MEASURED, parts=(ANSWERS,)).headline() == "Measured: all 55 answers within 0.71 % (95 %)."
    lost = replace(MEASURED, parts=(replace(TABLES, within=1.0, count_within=1.0),))
    assert "too large" in lost.headline()


def test_every_part_has_a_line():
    assert MEASURED.sentences() == [
        "91 tables: every count within 0.1 %; every group of cells within 0.71 %; "
        "the worst group of a table is off by 0.11 % to 0.41 % on average.",
        "some ranges: every answer within 0.71 %; off by 0.11 % to 0.41 % on average.",
    ]
    assert "2 % of the release's budget" in MEASURED.note()


def test_a_weaker_bound_for_single_counts_is_left_out():
    weak = replace(TABLES, count_within=0.01)
    assert "every count" not in weak.sentence()
    assert weak.single == 0.01, "the smaller of two bounds would fail more often than each"


def test_what_cannot_be_otherwise_is_not_said():
    vague = replace(TABLES, within=1.0, mean_low=0.0, mean_high=1.0, count_within=0.5)
    assert vague.sentence() == "91 tables: every count within 50 %."
    assert replace(vague, count_within=1.0).sentence() == "91 tables: the noise is too large to bound anything."
