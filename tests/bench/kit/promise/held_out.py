"""Tables that were kept aside: drawn by laws that the planner does not use, with parameters that follow from a seed.

Nobody looks at single cells of these while stand-ins, figures or the fitted model are changed; whoever did draws new
ones with `RELEASE_DESK_BENCH_SEED`. A real one, places of short messages, joins them where `RELEASE_DESK_BENCH_DATA`
has it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import numpy as np

from core.privacy.unit import Unit
from core.table.stand_in import StandIn
from tests.bench.kit.promise.tables import Laws, made_table
from tests.bench.kit.real_data import data_folder

SEED = "RELEASE_DESK_BENCH_SEED"


def network(generator: np.random.Generator) -> StandIn:
    """A Bayesian network: every column has up to two parents and a random table of conditional probabilities."""
    rows, laws = int(generator.integers(10_000, 60_000)), Laws()
    sizes = [2, 2, *generator.integers(3, 14, int(generator.integers(5, 9)))]
    for place, size in enumerate(generator.permutation(sizes)):
        parents = generator.permutation(place)[: int(generator.integers(0, 3))] if place else []
        key = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            key = key * laws.sizes[parent] + laws.values[parent]
        chances = generator.dirichlet(np.full(size, generator.uniform(0.3, 3.0)), int(key.max()) + 1)
        drawn = (chances.cumsum(axis=1)[key] < generator.random((rows, 1))).sum(axis=1)
        laws.add(f"n{place}", int(size), np.minimum(drawn, size - 1), ordered=bool(size > 5))
    laws.add("m0", 20, generator.binomial(19, 0.2 + 0.6 * laws.values[0] / laws.sizes[0]), ordered=True)
    laws.add("m1", 32, generator.binomial(31, generator.beta(1.5, 4.0, rows)), ordered=True)
    return made_table(laws)


def correlated(generator: np.random.Generator) -> StandIn:
    """Normal numbers with a random correlation matrix, seen in steps, some of them as yes or no."""
    rows, count, laws = int(generator.integers(5_000, 30_000)), 9, Laws()
    loadings = generator.normal(size=(count, 4))
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
    numbers = generator.normal(size=(rows, 4)) @ loadings.T
    for place in range(count):
        size = int(generator.choice([2, 5, 12, 24, 50])) if place > 1 else 36
        bent = np.tanh(numbers[:, place] * generator.uniform(0.3, 1.2))
        steps = np.floor((bent + 1) / 2 * size).clip(0, size - 1)
        laws.add(f"z{place}", size, steps.astype(np.int64), ordered=size > 2)
    return made_table(laws)


def journeys(generator: np.random.Generator) -> StandIn:
    """Trips by clock and weekday with rush hours, from stop to stop nearby; up to three of one traveller."""
    rows, laws = int(generator.integers(30_000, 120_000)), Laws()
    weekday = generator.choice(7, rows, p=generator.dirichlet(np.full(7, 20.0)))
    rush = generator.choice([8.0, 17.5, 13.0], rows, p=[0.4, 0.35, 0.25])
    hour = np.where(weekday < 5, rush + generator.normal(0, 1.2, rows), generator.normal(14, 4, rows)) % 24
    start = generator.choice(45, rows, p=generator.dirichlet(np.full(45, 0.7)))
    stop = (start + generator.integers(1, 4, rows) * generator.geometric(0.35, rows)) % 45
    late = generator.exponential(3 + 5 * (np.abs(hour - 8) < 1))
    laws.add("clock", 48, (hour * 2).astype(np.int64), ordered=True)
    laws.add("weekday", 7, weekday)
    laws.add("start", 45, start)
    laws.add("stop", 45, stop)
    laws.add("late", 30, np.minimum(late, 29).astype(np.int64), ordered=True)
    laws.add("pass", 2, generator.random(rows) < 0.35 + 0.3 * (weekday < 5))
    laws.add("bike", 2, generator.random(rows) < 0.08)
    return made_table(laws, Unit.id("traveller", 3))


def nested(generator: np.random.Generator) -> StandIn:
    """Regions that hold towns that hold kinds of houses, with rents by place: each column nearly settles the next."""
    rows, laws = int(generator.integers(15_000, 50_000)), Laws()
    region = generator.choice(8, rows, p=generator.dirichlet(np.full(8, 1.0)))
    town = np.minimum(region * 6 + generator.geometric(0.4, rows) - 1, 47)
    level = generator.normal(0, 0.4, 48)[town]
    rent = np.exp(6.3 + level + generator.normal(0, 0.25, rows)) / 60
    rooms = np.clip(generator.poisson(2 + rent / 12), 0, 9)
    laws.add("region", 8, region)
    laws.add("town", 48, town)
    laws.add("rent", 64, np.minimum(rent, 63).astype(np.int64), ordered=True)
    laws.add("rooms", 10, rooms, ordered=True)
    laws.add("built", 30, generator.triangular(0, 22, 30, rows).astype(np.int64), ordered=True)
    laws.add("owned", 2, generator.random(rows) < 1 / (1 + np.exp(2 - rent / 6)))
    laws.add("lift", 2, (rooms > 3) ^ (generator.random(rows) < 0.2))
    return made_table(laws)


def trial(generator: np.random.Generator) -> StandIn:
    """A few hundred patients of a study: arms by design, outcomes that hang on dose and age."""
    rows, laws = int(generator.integers(400, 900)), Laws()
    arm, age = generator.integers(0, 4, rows), generator.normal(55, 12, rows).clip(20, 89)
    outcome = generator.normal(10 + 2 * arm - 0.1 * (age - 55), 4, rows).clip(0, 29)
    laws.add("arm", 4, arm)
    laws.add("age", 14, ((age - 20) // 5).astype(np.int64), ordered=True)
    laws.add("outcome", 30, outcome.astype(np.int64), ordered=True)
    laws.add("visits", 12, generator.binomial(11, 0.8, rows), ordered=True)
    laws.add("site", 9, generator.integers(0, 9, rows))
    laws.add("female", 2, generator.random(rows) < 0.5)
    laws.add("adverse", 2, generator.random(rows) < 0.05 + 0.03 * arm)
    return made_table(laws)


def answers(generator: np.random.Generator) -> StandIn:
    """A wide questionnaire of four kinds of people who tick much the same, with some who tick at random."""
    rows, laws = int(generator.integers(8_000, 40_000)), Laws()
    kind = generator.choice(4, rows, p=generator.dirichlet(np.full(4, 3.0)))
    careless = generator.random(rows) < 0.1
    for place in range(24):
        size = int(generator.choice([2, 3, 5, 10]))
        habits = generator.dirichlet(np.full(size, 0.6), 4)
        ticked = (habits.cumsum(axis=1)[kind] < generator.random((rows, 1))).sum(axis=1).clip(0, size - 1)
        values = np.where(careless, generator.integers(0, size, rows), ticked)
        laws.add(f"a{place}", size, values, ordered=size > 3)
    return made_table(laws)


def meter(generator: np.random.Generator) -> StandIn:
    """Four hundred thousand readings of machines: mostly normal working, seldom alarms, numbers that drift."""
    rows, laws = 400_000, Laws()
    drift = np.sin(np.linspace(0, generator.uniform(5, 20), rows))
    heat = 40 + 6 * drift + generator.standard_t(4, rows) * 2
    alarm = heat + generator.normal(0, 1, rows) > 52
    laws.add("heat", 80, np.clip(heat, 0, 79).astype(np.int64), ordered=True)
    laws.add(
        "speed", 50, np.where(alarm, 0, np.clip(30 + 5 * drift + generator.normal(0, 4, rows), 0, 49)), ordered=True
    )
    laws.add("machine", 20, generator.integers(0, 20, rows))
    laws.add("code", 25, np.where(alarm, generator.geometric(0.2, rows).clip(1, 24), 0))
    laws.add("alarm", 2, alarm)
    laws.add("night", 2, generator.random(rows) < 1 / 3)
    return made_table(laws)


def messages(generator: np.random.Generator) -> StandIn | None:
    """Real: where short messages were sent from, in 64 x 64 fields, as 20,000 of them; None where they are not here."""
    found = data_folder() / "dpbench" / "twitter_256_256.npy"
    if not found.exists():
        return None
    counts = np.load(found).astype(np.float64)
    counts = counts.reshape(64, counts.shape[0] // 64, 64, counts.shape[1] // 64).sum(axis=(1, 3))
    drawn = generator.choice(counts.size, 20_000, p=counts.ravel() / counts.sum())
    across, down = drawn // 64, drawn % 64
    laws = Laws()
    laws.add("across", 64, across, ordered=True)
    laws.add("down", 64, down, ordered=True)
    laws.add("side", 2, across > np.median(across))
    laws.add("half", 2, down > np.median(down))
    laws.add("block", 16, across // 16 * 4 + down // 16)
    return made_table(laws)


FAMILIES: Mapping[str, Callable[[np.random.Generator], StandIn | None]] = {
    "network": network,
    "correlated": correlated,
    "journeys": journeys,
    "nested": nested,
    "trial": trial,
    "answers": answers,
    "meter": meter,
    "messages": messages,
}


def drawn_table(name: str) -> StandIn | None:
    """The table of a family at the seed, the same at every call."""
    seed = int(os.environ.get(SEED, "20261118"))
    return FAMILIES[name](np.random.default_rng([seed, list(FAMILIES).index(name)]))
