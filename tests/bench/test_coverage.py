"""A few of the questions of `python -m tests.bench coverage`: each kind of interval holds the truth as it claims."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from core.formulas.sql.estimates import Known
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.kit.intervals import KnownTotal
from tests.bench import coverage
from tests.bench.kit import coverage_numbers

FEW = {"online-median": 600, "median-basic": 400, "median-walk": 40}


def too_few(tally: Counter) -> list[str]:
    """Kinds of intervals that hold the truth less often than 95 % can explain, at one in a hundred thousand.

    Answers of one session share some of their noise, so they count as half as many.
    """
    found = []
    for what in {what for what, _ in tally}:
        inside, every = tally[what, True], tally[what, True] + tally[what, False]
        if inside / 2 < stats.binom.ppf(1e-5, every // 2, coverage.CLAIMED):
            found.append(what)
    return found


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("name", coverage.SESSIONS)
def test_intervals_of_sessions_hold_the_truth(name):
    tally = coverage.covered(name, FEW.get(name, 1_200))
    assert tally
    assert not too_few(tally), tally


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("name", coverage.RELEASES)
def test_intervals_of_measured_releases_hold_the_truth(name):
    tally = coverage.released(name, 400)
    assert tally
    assert not too_few(tally), tally


def claims_broken(tally: Counter) -> list[float]:
    """Claims that are kept less often than chance explains, once in a hundred thousand."""
    every = {claimed: tally[claimed, True] + tally[claimed, False] for claimed, _ in tally}
    return [claimed for claimed in every if tally[claimed, True] < stats.binom.ppf(1e-5, every[claimed], claimed)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", coverage_numbers.SESSIONS)
def test_intervals_of_a_select_hold_the_truth(name):
    tally = coverage_numbers.selected(name, coverage.tables(), 240)
    assert tally.total() > 200
    assert not claims_broken(tally), tally


@pytest.mark.exhaustive
def test_figures_of_decisions_are_as_exact_as_they_say():
    tally = coverage_numbers.figures(600)
    assert tally.total() > 500
    assert not claims_broken(tally), tally


@pytest.mark.exhaustive
def test_half_the_margin_of_an_answer_is_caught_in_a_select(monkeypatch):
    monkeypatch.setattr(coverage_numbers, "Known", lambda count, margin=0.0: Known(count, margin and margin / 2))
    assert claims_broken(coverage_numbers.selected("online-laplace", coverage.tables(), 600))


@pytest.mark.exhaustive
def test_noise_in_the_number_of_rows_must_not_be_left_out(monkeypatch):
    monkeypatch.setattr(KnownTotal, "measured", classmethod(lambda cls, rows, event, unit: cls(rows, 0.0)))
    monkeypatch.setattr(coverage, "mixed", nearly_all)
    assert too_few(coverage.covered("online-laplace", 6_000)) == ["hard, in per cent"]


@pytest.mark.exhaustive
def test_bounds_for_half_the_noise_are_caught(monkeypatch):
    tail = NoiseLevel.tail
    monkeypatch.setattr(NoiseLevel, "tail", lambda self, probability: tail(self, probability) / 2)
    assert "hard, in rows" in too_few(coverage.covered("online-laplace", 1_200))


REAL = coverage.mixed


def nearly_all(domain, count, generator):
    """Only questions about all rows and about all but one cell, whose share follows the number of rows."""
    return [question for place, question in enumerate(REAL(domain, 5 * count, generator)) if place % 5 == 3][:count]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["online-laplace", "online-histogram", "online-weights", "online-perceptron"])
def test_intervals_hold_in_20_000_questions(name):
    tally = coverage.covered(name)
    for what in {what for what, _ in tally}:
        inside, every = tally[what, True], tally[what, True] + tally[what, False]
        assert inside >= stats.binom.ppf(1e-4, every, coverage.CLAIMED), what
