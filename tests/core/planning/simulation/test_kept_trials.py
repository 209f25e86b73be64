"""Figures: the same from the same public facts, kept, refined, and of the questions that were chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.mechanisms.direct.laplace import LaplaceTables
from core.planning.simulation import fitted, kept_trials
from core.planning.simulation.curve import along
from core.planning.simulation.expected_error import Figure, figure_of
from core.planning.simulation.kept_trials import QUICK_RUNS, Figures
from core.planning.simulation.stand_ins import StandIns
from core.planning.simulation.trial import Trial, make_trial, trial_key
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.registry import offline
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="a", low=0, high=15), Integers(name="b", low=0, high=3)))
PUBLIC = StandIns.of(DOMAIN, Unit.row(), 3_000)


def laplace(epsilon: float = 1.0, *queries: object) -> LaplaceTables:
    return LaplaceTables(queries=queries or (Marginals(order=2),), budget=Budget(epsilon))


def errors(figure: Figure) -> tuple[float, ...]:
    return figure.mean, figure.worst, figure.low, figure.high


@pytest.mark.exhaustive
def test_the_same_facts_give_the_same_figure_and_draw_no_real_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("laplace", "gaussian", "select", "select_pair", "keys", "generator", "coin"):
        monkeypatch.setattr(Noise, name, None)
    first, second = (Figures().quick(laplace(), PUBLIC) for _ in range(2))
    assert errors(first) == errors(second)
    assert (first.how, first.runs, first.rows) == ("simulated", QUICK_RUNS, 3_000)
    assert first.low < first.mean < first.high < first.worst
    assert f"{QUICK_RUNS} runs on invented tables of 3,000 rows" in first.sentence()


def test_it_speaks_of_the_questions_that_were_chosen() -> None:
    """A long range sums many noisy counts; a figure of single counts would not tell."""
    counts = Figures().quick(laplace(1, Marginals(order=1, columns=("a",))), PUBLIC)
    ranges = Figures().quick(laplace(1, Intervals(column="a")), PUBLIC)
    assert ranges.mean > 1.3 * counts.mean


@pytest.mark.exhaustive
def test_it_comes_true_for_plain_noise() -> None:
    """Where counts are large nothing is cut off at 0, and the mean error of a count is that of the noise."""
    figure = Figures().quick(laplace(0.2, Marginals(order=1, columns=("b",))), StandIns.of(DOMAIN, Unit.row(), 10**6))
    assert figure.mean == pytest.approx(5.0, rel=0.6)
    assert figure.low < 5.0 < figure.high


def test_figures_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Figures(tmp_path / "figures").quick(laplace(), PUBLIC)
    kept = Figures(tmp_path / "figures")
    monkeypatch.setattr(kept_trials, "make_trial", lambda *_: pytest.fail("it was simulated again"))
    assert errors(kept.quick(laplace(), PUBLIC)) == errors(told)
    assert kept.kept(laplace(2), PUBLIC) is None


def test_the_error_of_tables_is_told_apart_and_kept(tmp_path: Path) -> None:
    """Long ranges err far more than single counts; the mean of both says little of the counts."""
    ranges, counts = Intervals(column="a"), Marginals(order=1, columns=("a",))
    told = Figures(tmp_path / "figures").quick(laplace(1, ranges, counts), PUBLIC)
    assert told.counts is not None and told.counts < 0.9 * told.mean
    assert Figures(tmp_path / "figures").quick(laplace(1, ranges, counts), PUBLIC).counts == told.counts
    assert Figures().quick(laplace(1, ranges), PUBLIC).counts is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("content", ["", "{}", '[{"mean": "x"}]', '[{"mean": 1}]', "[1]"])
def test_what_cannot_be_read_is_made_again(tmp_path: Path, content: str) -> None:
    place = tmp_path / "figures" / f"{trial_key(laplace(), PUBLIC)}.json"
    place.parent.mkdir()
    place.write_text(content)
    told = Figures(tmp_path / "figures").quick(laplace(), PUBLIC)
    assert told.runs == QUICK_RUNS
    assert errors(Figures(tmp_path / "figures").quick(laplace(), PUBLIC)) == errors(told)


def test_figures_are_refined_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_trials, "MOST_RUNS", 6)
    figures = Figures()
    refined = figures.refined(laplace(), PUBLIC)
    assert [next(refined).runs for _ in range(3)] == [0, 1, 2]
    assert [figure.runs for figure in refined] == [3, 4, 5, 6]
    kept = figures.kept(laplace(), PUBLIC)
    assert kept is not None and kept.runs == 6


def test_a_model_stands_in_where_simulating_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_trials, "QUICK_SECONDS", 1e-9)
    monkeypatch.setattr(kept_trials, "ONE_SECONDS", 1e-9)
    figure = Figures().quick(laplace(), PUBLIC)
    assert (figure.how, figure.runs) == ("modelled", 0)
    assert "by a model fitted on recorded runs" in figure.sentence()
    monkeypatch.setattr(kept_trials, "LONGEST", 1e-9)
    assert [each.how for each in Figures().refined(laplace(), PUBLIC)] == ["modelled"]


def test_a_single_plan_is_told_of_tables_of_every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_trials, "QUICK_SECONDS", 1e-9)
    figures = Figures()
    assert figures.told(laplace(), PUBLIC).runs == PUBLIC.kinds
    monkeypatch.setattr(kept_trials, "KIND_SECONDS", 1e-9)
    assert Figures().told(laplace(), PUBLIC).runs == 1
    assert figures.told(laplace(), PUBLIC).runs == PUBLIC.kinds, "what is known is not forgotten"


def test_every_mechanism_is_in_the_model() -> None:
    length = fitted.features(laplace(), DOMAIN, Unit.row(), 1_000).size
    assert fitted.fits().keys() == offline.keys()
    assert {len(fits[target]) for fits in fitted.fits().values() for target in ("mean", "worst", "cost")} == {length}


def test_a_mechanism_without_records_speaks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted, "fits", dict)
    said = fitted.modelled(laplace(), PUBLIC)
    assert said.mean == laplace().expected(DOMAIN, Unit.row()).mean
    assert said.cost == laplace().seconds(DOMAIN, Unit.row())


def test_a_curve_goes_through_what_was_simulated() -> None:
    figures = Figures()
    told = figures.quick(laplace(1), PUBLIC)
    assert along(laplace(1), laplace(1), PUBLIC, figures) == told
    further = along(laplace(1), laplace(0.1), PUBLIC, figures)
    assert (further.how, further.runs) == ("modelled", 0)
    assert 2 * told.mean < further.mean < 50 * told.mean
    seen = figures.quick(laplace(0.1), PUBLIC)
    assert along(laplace(1), laplace(0.1), PUBLIC, figures) == seen


def test_all_within_covers_the_trials_it_was_made_of() -> None:
    generator = np.random.default_rng(1)
    trials = [
        Trial(mean=float(mean), worst=float(5 * mean), seconds=0.1) for mean in np.exp(generator.normal(2, 0.5, 200))
    ]
    figure = figure_of(trials, 10**6, "tables")
    assert np.mean([trial.worst <= figure.worst for trial in trials]) >= 0.95
    assert 0.85 <= np.mean([figure.low <= trial.mean <= figure.high for trial in trials]) <= 0.95
    assert figure_of(trials, 10, "tables").worst == 10, "nothing is off by more than all rows"


def test_runs_that_are_exact_do_not_make_all_within_larger() -> None:
    def told(*worst: float) -> float:
        return figure_of([Trial(mean=0.1, worst=each, seconds=0.1) for each in worst], 1_000, "tables").worst

    whole = told(*[1.0] * 9)
    assert 1 <= told(*[0.0, 0.01, 1e-9, 0.0], *[1.0] * 5) <= 1.1 * whole
    assert told(*[0.0] * 16, 1.0, 1.0) > 0.8, "a whole row in one run of nine is told"


def test_noise_is_averaged_and_no_kind_of_table_rules() -> None:
    lucky = [Trial(mean=mean, worst=9.0, seconds=0.1) for mean in (0.0, 100.0, 2.0, 300.0)]
    assert figure_of(lucky, 1_000, "tables", kinds=2).mean == pytest.approx(((1 + 200**0.5) / 2) ** 2)
    assert figure_of(lucky[:1] + lucky[2:3], 1_000, "tables").mean == pytest.approx(1.0), "luck is not exactness"
    few = figure_of(lucky[:1], 1_000, "tables", kinds=6)
    assert few.low <= few.mean <= few.high


def test_a_trial_follows_from_its_place() -> None:
    first, second, other = (make_trial(laplace(), PUBLIC, place) for place in (0, 0, 1))
    assert (first.mean, first.worst) == (second.mean, second.worst) != (other.mean, other.worst)
