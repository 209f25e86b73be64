"""Tables with a column to predict: generated ones, each with a yes/no target that no single column decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn

Columns = Mapping[str, tuple[int, bool, np.ndarray]]
"""Size, whether it is ordered, and codes."""


def credit() -> StandIn:
    """30,000 loans: default follows debt over income, past delays and a purpose whose risk depends on age."""
    generator, rows = np.random.default_rng(71), 30_000
    age = np.clip(generator.gamma(6, 7, rows), 18, 87).astype(int) - 18
    income = np.clip(generator.lognormal(3.2, 0.5, rows) + age / 8, 0, 99).astype(int)
    debt = np.clip(generator.gamma(2, 10, rows), 0, 79).astype(int)
    delays = np.minimum(generator.poisson(0.4 + debt / 60), 9)
    purpose = generator.choice(7, rows, p=(0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05))
    region = generator.integers(0, 12, rows)
    odds = (
        -2.2 + 0.045 * debt - 0.03 * income + 0.55 * delays + 0.8 * ((purpose == 2) & (age < 20)) - 0.2 * (region < 3)
    )
    return _table(
        {
            "age": (70, True, age),
            "income": (100, True, income),
            "debt": (80, True, debt),
            "delays": (10, True, delays),
            "purpose": (7, False, purpose),
            "region": (12, False, region),
            "homeowner": (2, False, (generator.random(rows) < 0.2 + age / 150).astype(int)),
        },
        odds,
        generator,
    )


def readmission() -> StandIn:
    """20,000 stays in hospital: who comes back follows diagnosis and length of stay, more so with many drugs."""
    generator, rows = np.random.default_rng(72), 20_000
    diagnosis = np.minimum(generator.geometric(0.18, rows) - 1, 19)
    stay = np.minimum(generator.gamma(1.5 + diagnosis % 4, 1.8, rows), 29).astype(int)
    drugs = np.minimum(generator.poisson(4 + stay / 3), 24)
    age = np.clip(generator.normal(60, 18, rows), 0, 99).astype(int) // 5
    odds = (
        -2.0 + 0.05 * stay + 0.02 * age * (diagnosis % 3 == 1) + 0.04 * drugs * (diagnosis < 4) + 0.5 * (diagnosis == 7)
    )
    return _table(
        {
            "diagnosis": (20, False, diagnosis),
            "stay": (30, True, stay),
            "drugs": (25, True, drugs),
            "age": (20, True, age),
            "ward": (8, False, (diagnosis + generator.integers(0, 3, rows)) % 8),
            "sex": (2, False, generator.integers(0, 2, rows)),
            "emergency": (2, False, (generator.random(rows) < 0.3 + 0.02 * stay).astype(int)),
            "insurer": (6, False, generator.integers(0, 6, rows)),
        },
        odds,
        generator,
    )


def churn() -> StandIn:
    """40,000 customers of ten columns: leaving follows the contract, its price and how long it has run."""
    generator, rows = np.random.default_rng(73), 40_000
    contract = generator.choice(3, rows, p=(0.55, 0.25, 0.2))
    months = np.minimum(generator.exponential(12 + 14 * contract, rows), 71).astype(int)
    price = np.clip(generator.normal(40 + 15 * (contract == 0), 14, rows), 0, 99).astype(int)
    calls = np.minimum(generator.poisson(1 + 1.2 * (price > 60)), 11)
    odds = 0.2 - 1.3 * contract - 0.05 * months + 0.02 * price + 0.25 * calls * (contract == 0)
    services = (generator.random((4, rows)) < np.array([[0.3], [0.5], [0.7], [0.2]]) + price / 400).astype(int)
    return _table(
        {
            "contract": (3, False, contract),
            "months": (72, True, months),
            "price": (100, True, price),
            "calls": (12, True, calls),
            "payment": (4, False, generator.choice(4, rows)),
            **{f"service {place}": (2, False, used) for place, used in enumerate(services)},
        },
        odds - 0.4 * services[0],
        generator,
    )


def _table(columns: Columns, odds: np.ndarray, generator: np.random.Generator) -> StandIn:
    target = (generator.random(odds.size) < 1 / (1 + np.exp(-odds))).astype(int)
    attributes = [
        Integers(name=name, low=0, high=size - 1)
        if ordered
        else Booleans(name=name)
        if size == 2
        else Categories(name=name, values=tuple(range(size)))
        for name, (size, ordered, _) in columns.items()
    ]
    codes = np.stack([*(codes for _, _, codes in columns.values()), target], axis=1).astype(np.int64)
    return StandIn(Domain((*attributes, Booleans(name="target"))), codes, Unit.row())


TABLES: Mapping[str, Callable[[], StandIn]] = {"credit": credit, "readmission": readmission, "churn": churn}
