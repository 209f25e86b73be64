"""Tables on which intervals of estimates are checked once their settings stand: laws that no setting was chosen on.

Each has columns with an order that hang together, from hardly to nearly one by the other, and a last one of two values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.table.stand_in import StandIn
from tests.bench.kit.promise.tables import Laws, made_table

Numbers = NDArray[np.float64]


def patients(generator: np.random.Generator) -> StandIn:
    """Height, weight and their ratio; blood pressure twice; who is treated follows from all of it."""
    rows, laws = int(generator.integers(8_000, 25_000)), Laws()
    woman, age = generator.random(rows) < 0.52, generator.uniform(18, 90, rows)
    height = generator.normal(178 - 13 * woman, 7, rows)
    ratio = generator.gamma(26, (24 + age / 25) / 26, rows)
    weight = ratio * (height / 100) ** 2
    upper = 95 + 0.45 * age + 0.8 * (ratio - 25) + generator.normal(0, 11, rows)
    lower = 25 + 0.42 * upper + generator.normal(0, 6, rows)
    _number(laws, "age", 36, (age - 18) / 2)
    _number(laws, "height", 30, (height - 140) / 2)
    _number(laws, "weight", 50, (weight - 40) / 2)
    _number(laws, "ratio", 25, ratio - 15)
    _number(laws, "upper", 40, (upper - 80) / 3)
    _number(laws, "lower", 30, (lower - 45) / 2)
    laws.add("woman", 2, woman)
    laws.add("clinic", 11, generator.choice(11, rows, p=generator.dirichlet(np.full(11, 2.0))))
    laws.add("treated", 2, generator.random(rows) < _chance((upper - 140) / 12 + (age - 60) / 30))
    return made_table(laws)


def pupils(generator: np.random.Generator) -> StandIn:
    """Marks in five subjects that share a gift and a school; who goes on follows the best two."""
    rows, laws = int(generator.integers(3_000, 9_000)), Laws()
    school = generator.integers(0, 15, rows)
    gift = generator.normal(0, 1, rows) + generator.normal(0, 0.5, 15)[school]
    marks = [share * gift + generator.normal(0, 0.7, rows) for share in generator.uniform(0.5, 1.1, 5)]
    for place, mark in enumerate(marks):
        _number(laws, f"mark {place}", 20, 10 + 4 * mark)
    _number(laws, "absent", 25, generator.negative_binomial(2, 0.3, rows) - 2 * gift)
    laws.add("school", 15, school)
    laws.add("parents", 4, np.clip(np.rint(1.5 + 0.6 * gift + generator.normal(0, 1, rows)), 0, 3))
    best = np.sort(np.stack(marks), axis=0)[-2:].mean(axis=0)
    laws.add("goes on", 2, generator.random(rows) < _chance(1.6 * best - 0.8))
    return made_table(laws)


def rides(generator: np.random.Generator) -> StandIn:
    """Distance, time and price of rides, each nearly settled by two others, by hour; who tips."""
    rows, laws = int(generator.integers(20_000, 60_000)), Laws()
    hour = generator.choice(24, rows, p=generator.dirichlet(np.full(24, 4.0)))
    busy = np.isin(hour, (8, 9, 17, 18))
    distance = generator.lognormal(1.1, 0.7, rows)
    pace = generator.lognormal(1.0 + 0.35 * busy, 0.2, rows)
    price = 3 + 1.4 * distance + 0.3 * distance * pace + generator.normal(0, 0.5, rows)
    laws.add("hour", 24, hour)
    _number(laws, "distance", 40, distance * 2)
    _number(laws, "minutes", 60, distance * pace)
    _number(laws, "price", 70, price)
    _number(laws, "riders", 6, generator.geometric(0.7, rows) - 1)
    laws.add("paid by", 3, generator.choice(3, rows, p=(0.6, 0.3, 0.1)))
    laws.add("tips", 2, generator.random(rows) < _chance(price / 25 - 1 + 0.4 * busy))
    return made_table(laws)


def farms(generator: np.random.Generator) -> StandIn:
    """Land, herds and yields with heavy tails; rain by region; who gets a subsidy."""
    rows, laws = int(generator.integers(2_000, 6_000)), Laws()
    region = generator.integers(0, 8, rows)
    land = generator.pareto(1.6, rows) * 8
    rain = generator.normal(600 + 40 * region, 60, rows)
    herd = generator.poisson(np.minimum(land, 60) * generator.uniform(0.1, 0.9, rows))
    harvest = land * (rain / 700) * generator.lognormal(0, 0.3, rows)
    laws.add("region", 8, region)
    _number(laws, "land", 50, land)
    _number(laws, "rain", 30, (rain - 450) / 20)
    _number(laws, "herd", 40, herd)
    _number(laws, "harvest", 60, harvest)
    _number(laws, "owner's age", 14, generator.normal(55, 14, rows) / 5 - 4)
    laws.add("organic", 2, generator.random(rows) < 0.2)
    laws.add("subsidy", 2, generator.random(rows) < _chance(1.5 - land / 15 + 0.3 * (region < 3)))
    return made_table(laws)


def workers(generator: np.random.Generator) -> StandIn:
    """Age, years of work and years in the firm, of which each bounds the next; pay by grade; who leaves."""
    rows, laws = int(generator.integers(10_000, 40_000)), Laws()
    age = 20 + 45 * generator.beta(1.6, 2.2, rows)
    worked = (age - 18 - generator.gamma(2, 2, rows)).clip(0)
    stayed = worked * generator.beta(0.8, 1.6, rows)
    grade = np.clip(np.rint(worked / 8 + generator.normal(0, 1, rows)), 0, 6)
    pay = (22 + 6 * grade + 0.3 * stayed) * generator.lognormal(0, 0.12, rows)
    _number(laws, "age", 45, age - 20)
    _number(laws, "worked", 45, worked)
    _number(laws, "stayed", 40, stayed)
    laws.add("grade", 7, grade, ordered=True)
    _number(laws, "pay", 50, pay - 15)
    _number(laws, "ill", 20, generator.negative_binomial(1.2, 0.2, rows))
    laws.add("site", 5, generator.choice(5, rows, p=(0.4, 0.25, 0.2, 0.1, 0.05)))
    laws.add("leaves", 2, generator.random(rows) < _chance(-1.2 - 0.1 * stayed + (45 - pay) / 30))
    return made_table(laws)


def _number(laws: Laws, name: str, size: int, values: Numbers) -> None:
    laws.add(name, size, np.clip(np.floor(values), 0, size - 1), ordered=True)


def _chance(odds: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-odds))


LATER: Mapping[str, Callable[[np.random.Generator], StandIn]] = {
    "patients": patients,
    "pupils": pupils,
    "rides": rides,
    "farms": farms,
    "workers": workers,
}
