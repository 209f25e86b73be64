"""Distances of tables are told from their noise by what all of them are, as parts of the largest each can be."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.denoising.distances import furthest, shrunk_distances

ROOMS = np.full(400, 1e5)


def test_noise_is_taken_out_towards_the_mean():
    generator = np.random.default_rng(0)
    truth = generator.normal(1_000, 100, 400)
    noisy = truth + generator.normal(0, 200, 400)
    assert np.abs(shrunk_distances(noisy, 200.0, ROOMS) - truth).mean() < 0.7 * np.abs(noisy - truth).mean()
    assert np.allclose(shrunk_distances(noisy, 1e9, ROOMS), noisy.mean())


def test_a_few_strong_ones_are_not_taken_for_middling_ones():
    generator = np.random.default_rng(0)
    truth = np.concatenate([np.full(90, 20.0), generator.uniform(1_500, 2_500, 10)])
    noisy = truth + generator.normal(0, 200, 100)
    about_mean = noisy.mean() + (1 - 200**2 / noisy.var()) * (noisy - noisy.mean())
    found = shrunk_distances(noisy, 200.0, np.full(100, 1e4))
    assert np.abs(found - truth).mean() < 0.5 * np.abs(about_mean - truth).mean()
    assert np.abs(found - truth)[90:].mean() < 1.1 * np.abs(noisy - truth)[90:].mean()


def test_few_of_them_tell_their_mean_and_spread_only():
    noisy = np.array([0.0, 100.0, 2_000.0])
    trust = 1 - 300**2 / noisy.var()
    found = shrunk_distances(noisy, 300.0, np.full(3, 1e4))
    assert np.allclose(found, noisy.mean() + trust * (noisy - noisy.mean()))


@pytest.mark.parametrize("number", [12, 90])
def test_tables_with_little_room_are_not_taken_to_be_as_far_off_as_others(number: int):
    """What columns have in common is how closely they depend on each other, whatever there is room for."""
    generator = np.random.default_rng(1)
    before, after = 0.0, 0.0
    for _ in range(20):
        rooms = generator.choice([2_000.0, 20_000.0], number)
        truth = rooms * generator.beta(2, 6, number)
        noisy = truth + generator.normal(0, 1_500, number)
        before += float(np.abs(shrunk_distances(noisy, 1_500.0, np.full(number, 20_000.0)) - truth).mean())
        after += float(np.abs(shrunk_distances(noisy, 1_500.0, rooms) - truth).mean())
    assert after < 0.8 * before


def test_distances_without_noise_stay():
    distances = np.arange(40.0) ** 2
    assert np.array_equal(shrunk_distances(distances, 0.0, np.full(40, 1e4)), distances)
    assert np.allclose(shrunk_distances(distances, 1e-6, np.full(40, 1e4)), distances, atol=1e-3)
    assert shrunk_distances(np.zeros(0), 5.0, np.zeros(0)).size == 0


def test_no_table_with_the_same_columns_is_further_off():
    generator = np.random.default_rng(2)
    for _ in range(50):
        table = generator.gamma(0.1, size=generator.integers(2, 6, 2))
        apart = np.multiply.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        assert np.abs(table - apart).sum() <= furthest(apart) * (1 + 1e-9)


def test_columns_that_repeat_each_other_are_as_far_off_as_there_is_room():
    table = np.diag([50.0, 30.0, 15.0, 5.0])
    assert np.abs(table - np.outer(*[table.sum(axis=0)] * 2) / 100).sum() == pytest.approx(furthest(table))
    thrice = np.zeros((4, 4, 4))
    np.einsum("iii->i", thrice)[:] = np.diag(table)
    assert furthest(thrice) == pytest.approx(2 * furthest(table))


def test_a_table_with_one_value_has_hardly_any_room_and_some():
    assert 0 < furthest(np.array([[10.0, 90.0], [0.0, 0.0]])) < 1
