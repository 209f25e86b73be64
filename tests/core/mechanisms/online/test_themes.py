"""Tables that are asked about again and again: what is learnt of one that was measured."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.online.themes import Themes, shrunk_table
from core.privacy.events import Gaussian, Laplace


@pytest.mark.parametrize("event", [Gaussian(Fraction(1, 7)), Laplace(Fraction(2, 3))], ids=str)
def test_the_price_is_kept_and_without_one_nothing_is_measured(event):
    themes = Themes(left=1, event=event, seen={("a", "b", "c"): 2})
    assert Themes.from_json(themes.to_json()) == themes
    assert themes.measured(("a", "b", "c")).left == 0
    assert Themes.from_json({"left": 2, "seen": []}).left == 0


def test_a_model_that_is_right_stays_as_it_is():
    model = np.array([[100.0, 0.0], [50.0, 3.0]])
    assert np.array_equal(shrunk_table(model + np.array([5, -5]), model, sigma=30.0), model)


def test_without_noise_the_measurement_is_taken():
    model, measured = np.array([100.0, 50.0, 20.0]), np.array([60.0, 90.0, 20.0])
    assert np.allclose(shrunk_table(measured, model, sigma=1e-6), measured)


def test_full_cells_follow_and_empty_ones_do_not():
    model, measured = np.array([1_000.0, 1_000.0, 0.0, 1.0]), np.array([1_200.0, 800.0, 40.0, -40.0])
    found = shrunk_table(measured, model, sigma=30.0)
    assert found[0] > 1_150
    assert found[1] < 850
    assert np.abs(found[2:] - model[2:]).max() < 3


def test_it_errs_less_than_the_model_and_than_the_measurement():
    generator = np.random.default_rng(1)
    truth = generator.exponential(300, 200) * (generator.random(200) < 0.6)
    model = truth + np.sqrt(truth) * 2 * generator.normal(size=200)
    measured = truth + 30 * generator.normal(size=200)
    found = [float(np.abs(each - truth).mean()) for each in (shrunk_table(measured, model, 30.0), model, measured)]
    assert found[0] < 0.85 * min(found[1:])
