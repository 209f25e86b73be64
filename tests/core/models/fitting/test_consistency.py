import itertools

import numpy as np

from core.base.axes import summed
from core.models.fitting.consistency import agree, settle, total_of
from tests.core.samples import SMALL, small_counts

PAIRS = list(itertools.combinations(SMALL.names, 2))


def noisy(seed: int, sigmas: dict) -> dict:
    generator, counts = np.random.default_rng(seed), small_counts()
    errors = {pair: np.rint(generator.normal(0, sigmas[pair], SMALL.shape(pair))).astype(int) for pair in PAIRS}
    return {pair: counts.marginal(pair) + errors[pair] for pair in PAIRS}


def test_tables_agree_on_shared_columns_and_on_the_total():
    sigmas = dict(zip(PAIRS, (5.0, 20.0, 50.0), strict=True))
    agreed = agree(noisy(1, sigmas), sigmas, 5_000.0)
    for column in SMALL.names:
        views = [summed(table, pair, (column,)) for pair, table in agreed.items() if column in pair]
        assert np.allclose(views[0], views[1])
    assert all(np.isclose(table.sum(), 5_000) for table in agreed.values())


def test_triples_agree_on_pairs_too():
    sets = [("colour", "size", "old"), ("colour", "size")]
    generator, counts = np.random.default_rng(5), small_counts()
    tables = {key: counts.marginal(key) + generator.normal(0, 9, SMALL.shape(key)) for key in sets}
    agreed = agree(tables, dict.fromkeys(sets, 9.0), 5_000.0)
    assert np.allclose(summed(agreed[sets[0]], sets[0], sets[1]), agreed[sets[1]])


def test_agreement_lowers_the_error():
    sigmas = dict.fromkeys(PAIRS, 30.0)
    counts = small_counts()
    before = after = 0.0
    for seed in range(30):
        tables = noisy(seed, sigmas)
        settled = settle(tables, sigmas, 5_000.0)
        before += sum(np.abs(tables[pair] - counts.marginal(pair)).sum() for pair in PAIRS)
        after += sum(np.abs(settled[pair] - counts.marginal(pair)).sum() for pair in PAIRS)
        assert all((table >= 0).all() and np.isclose(table.sum(), 5_000) for table in settled.values())
    assert after < 0.8 * before


def test_total_weighs_tables_by_their_noise():
    tables = {("colour",): np.array([100, 0, 0]), ("size",): np.array([0, 0, 0, 900])}
    total = total_of(tables, {("colour",): 1.0, ("size",): 100.0}, None)
    assert abs(total - 100) < 1
    assert total_of(tables, {("colour",): 1.0, ("size",): 100.0}, 7) == 7.0
    assert total_of({("colour",): np.array([-5, 0, 1])}, {("colour",): 1.0}, None) == 0.0
