from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from core.mechanisms.tree import pairs as pair_choice
from core.mechanisms.tree.pairs import Candidates, best_prefix, by_value, left_unsure, structured
from core.models.fitting.triangulation import cells_of

NAMES = tuple("abcdef")
PAIRS = list(combinations(NAMES, 2))
ONES = {name: np.full(4, 0.25) for name in NAMES}


def candidates(scores, cells: int = 16, rows: float = 10_000.0) -> Candidates:
    models = [np.full(cells, rows / cells)] * len(PAIRS)
    return Candidates.of(PAIRS, dict.fromkeys(PAIRS, 1.0), models, np.array(scores), 0.0)


def equal(sigma: float):
    return lambda shares: sigma / np.sqrt(shares)


def test_value_is_distance_less_noise_on_a_flat_table():
    tables = candidates([5_000] * 15)
    value = tables.value(np.array([0]), np.array([10.0]))[0]
    noise, less = 16 * 10, pair_choice.WHERE * pair_choice.REACH
    chance = 16 * pair_choice.sampling_error(np.array([625.0]))[0] - noise * pair_choice.REACH
    beyond = 5_000 - 16 * pair_choice.sampling_error(np.array([625.0]))[0]
    assert beyond + chance - noise * (less + 0.2) < value < beyond + chance - noise * less
    assert tables.value(np.array([0]), np.array([5_000.0]))[0] < 0


def test_more_tables_are_chosen_when_there_is_less_noise():
    scores = np.linspace(500, 8_000, 15).astype(int)
    few = by_value(candidates(scores), 2 / 3, equal(60.0))
    many = by_value(candidates(scores), 2 / 3, equal(1.0))
    assert 0 < few.size < many.size == 15
    assert 14 in few


def test_nothing_is_chosen_when_noise_exceeds_everything():
    assert by_value(candidates([100] * 15), 2 / 3, equal(1e5)).size == 0
    chosen, structure = structured(candidates([100] * 15), ONES, 2 / 3, equal(1e5))
    assert chosen.size == 0 and len(structure.cliques) == len(NAMES)


def test_a_prefix_shares_one_budget():
    tables = candidates([9_000] + [100] * 14)
    assert best_prefix(tables, np.arange(15), 2 / 3, equal(20.0)).tolist() == [0]


def test_of_many_tables_the_best_prefix_is_found_in_few_steps():
    """The same as by trying every number of tables, one after the other."""
    generator, number = np.random.default_rng(3), 1_500
    names = [f"c{place}" for place in range(60)]
    pairs = list(combinations(names, 2))[:number]
    models = [np.full((4, 4), 10_000 / 16)] * number
    scores = (generator.exponential(1_500, number) + 400).astype(np.int64)
    many = Candidates.of(pairs, dict.fromkeys(pairs, 1.0), models, scores, 5.0)
    order = np.argsort(-many.distances, kind="stable")
    for spread in (0.4, 3.0, 12.0):
        tried: list[int] = []

        def sigma_of(shares, spread=spread, tried=tried):
            tried.append(shares.size)
            return spread / np.sqrt(shares)

        found = best_prefix(many, order, 2 / 3, sigma_of)
        assert len(tried) < 500
        values = [
            many.value(order[:count], spread / np.sqrt(np.full(count, 1 / count))).sum()
            for count in range(1, number + 1)
        ]
        assert found.tolist() == order[: 1 + int(np.argmax(values))].tolist()
        assert found.size < number


def test_the_tree_stays_within_its_caps(monkeypatch):
    monkeypatch.setattr(pair_choice, "MOST_CLIQUE", 64)
    sizes = dict.fromkeys(NAMES, 4)
    chosen, structure = structured(candidates(np.arange(5_000, 8_000, 200)), ONES, 2 / 3, equal(1.0))
    assert max(cells_of(sizes, clique) for clique in structure.cliques) <= 64
    assert all(structure.holder(PAIRS[index]) is not None for index in chosen)
    assert 5 < chosen.size < 15


def test_the_same_score_is_taken_for_less_where_there_is_less_room():
    """Half of the tables are over columns that nearly everybody has the same value of."""
    even, uneven = np.full((4, 4), 625.0), np.outer([0.97, 0.01, 0.01, 0.01], [0.97, 0.01, 0.01, 0.01]) * 10_000
    models = [even if place % 2 else uneven for place in range(15)]
    scores = np.array([round(pair_choice.sampling_error(model).sum()) + 300 for model in models])
    scores[:2] += 1_500
    found = Candidates.of(PAIRS, dict.fromkeys(PAIRS, 1.0), models, scores, 1_000.0)
    assert found.distances[0] < 0.5 * found.distances[1]


def test_what_follows_from_chosen_pairs_is_not_chosen_again():
    """Columns that repeat the one before: neighbours explain all other pairs."""
    steps = np.array([abs(NAMES.index(left) - NAMES.index(right)) for left, right in PAIRS])
    distances = 2 * 10_000 * 0.75 * 0.7**steps
    chance = 16 * pair_choice.sampling_error(np.array([625.0]))[0]
    chosen, structure = structured(candidates((distances + chance).astype(int)), ONES, 2 / 3, equal(20.0))
    assert {PAIRS[index] for index in chosen} == {pair for pair, step in zip(PAIRS, steps, strict=True) if step == 1}
    assert max(len(clique) for clique in structure.cliques) == 2


def test_what_a_table_may_be_off_by_without_noise_is_what_it_is_off_by():
    found = replace(candidates([3_000] * 15), unsure=0.0)
    chance = found.floors[0]
    assert np.allclose(list(found.missed().values()), np.sqrt(3_000**2 - chance**2))


def test_what_a_table_may_be_off_by_grows_with_what_is_not_known_of_its_score():
    models = [np.full(16, 625.0)] * len(PAIRS)
    chance = 16 * pair_choice.sampling_error(models[0])[0]
    scores = np.rint(np.random.default_rng(0).normal(chance, 400.0, 15)).astype(np.int64)
    found = Candidates.of(PAIRS, dict.fromkeys(PAIRS, 1.0), models, scores, 400.0)
    unsure = np.asarray(found.unsure)[:, None]
    drawn = np.maximum(np.random.default_rng(1).normal(found.distances[:, None], unsure, (15, 40_000)), 0.0)
    expected = np.sqrt(((drawn + chance) ** 2 - chance**2).mean(axis=1))
    assert np.allclose(list(found.missed().values()), expected, rtol=0.03)
    assert expected.min() > 100


def test_chance_may_have_hidden_a_dependence():
    """Distances of drawn tables from their model spread as it is said, and what spreads so may hide that much."""
    model = np.random.default_rng(3).uniform(0.2, 40.0, (12, 12))
    drawn = np.random.default_rng(4).poisson(model, (4_000, 12, 12))
    apart = np.abs(drawn - model).sum(axis=(1, 2))
    scores = np.array([round(float(apart.mean()))])
    found = Candidates.of([("a", "b")], {("a", "b"): 1.0}, [model], scores, 1e-6)
    # Of a single score three fifths of the variance are left: it is not known how far such scores lie apart.
    assert found.unsure == pytest.approx(math.sqrt(2**0.5 / (1 + 2**0.5)) * float(apart.std()), rel=0.1)
    assert found.missed()["a", "b"] > replace(found, unsure=0.0).missed()["a", "b"] + 80


def test_scores_that_lie_as_noise_does_leave_less_unsure_than_scores_that_differ():
    generator, sigma = np.random.default_rng(2), np.full(400, 100.0)
    alike, apart = generator.normal(0, sigma), generator.normal(0, 10 * sigma)
    assert left_unsure(alike, sigma).max() < 0.5 * 100
    assert 0.95 * 100 < left_unsure(apart, sigma).min() <= 100
    few_strong = np.concatenate([alike, np.full(20, 1e5)])
    assert left_unsure(few_strong, np.full(420, 100.0)).max() < 0.55 * 100
    assert not left_unsure(alike, np.zeros(400)).any()
    assert left_unsure(np.zeros(0), np.zeros(0)).size == 0
    each = np.repeat([100.0, 30.0], 200)
    found = left_unsure(generator.normal(0, each), each)
    assert found[0] == pytest.approx(found[-1] / 0.3)
