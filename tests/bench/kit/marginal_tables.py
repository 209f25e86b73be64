"""Tables for the benchmark of marginals beside the census table: a part of it, and generated ones.

Settings of the tree mechanism were chosen on those of `TUNED`; those of `HELD_OUT` were looked at afterwards only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.bench.kit.promise.tables import small, wide

FEW = ("education-num", "marital-status", "occupation", "relationship", "race", "sex", "income>50K")
"""The columns of the census table that have up to 16 values each, without the class of worker."""


def few_columns(table: StandIn) -> StandIn:
    """The same rows with seven of their columns."""
    places = [table.domain.names.index(name) for name in FEW]
    return StandIn(table.domain.project(FEW), table.codes[:, places], table.unit)


def yes_no() -> StandIn:
    """20,000 rows of 16 yes/no answers that follow three hidden traits, some closely and some hardly."""
    generator, rows, questions = np.random.default_rng(11), 20_000, 16
    traits = generator.normal(size=(rows, 3))
    loads = generator.normal(size=(3, questions)) * generator.choice([0.3, 1.0], size=(1, questions))
    cuts = generator.normal(size=questions) * 0.8
    codes = (traits @ loads + generator.normal(size=(rows, questions)) > cuts).astype(np.int64)
    domain = Domain(tuple(Booleans(name=f"q{place}") for place in range(questions)))
    return StandIn(domain, codes, Unit.row())


def payroll() -> StandIn:
    """135,000 payslips of nine columns: pay follows grade and years, overtime the department."""
    generator, rows = np.random.default_rng(201), 135_000
    department = np.minimum(generator.geometric(0.08, rows) - 1, 34)
    grade = np.clip(generator.poisson(2 + department % 5, rows), 0, 11)
    years = np.minimum(generator.exponential(9, rows), 44).astype(np.int64)
    base = np.clip(8 + 4.5 * grade + 0.5 * years + generator.normal(0, 4, rows), 0, 89).astype(np.int64)
    overtime = np.where(generator.random(rows) < 0.15 + 0.5 * (department % 3 == 0), generator.gamma(1.5, 6, rows), 0)
    full_time = generator.random(rows) < 0.6 + 0.03 * grade
    columns = {
        "department": (35, department),
        "grade": (12, grade),
        "years": (45, years),
        "base": (90, base),
        "overtime": (50, np.minimum(overtime, 49).astype(np.int64)),
        "benefits": (30, np.minimum(base // 4 + 6 * full_time + generator.integers(0, 3, rows), 29)),
        "full time": (2, full_time.astype(np.int64)),
        "union": (2, (generator.random(rows) < np.where(department < 8, 0.7, 0.25)).astype(np.int64)),
        "year": (6, generator.integers(0, 6, rows)),
    }
    ordered = {"grade", "years", "base", "overtime", "benefits"}
    attributes = [
        Integers(name=name, low=0, high=size - 1)
        if name in ordered
        else Categories(name=name, values=tuple(range(size)))
        for name, (size, _) in columns.items()
    ]
    codes = np.stack([values for _, values in columns.values()], axis=1).astype(np.int64)
    return StandIn(Domain(tuple(attributes)), codes, Unit.row())


TUNED: Mapping[str, Callable[[], StandIn]] = {"yes-no": yes_no}
HELD_OUT: Mapping[str, Callable[[], StandIn]] = {"payroll": payroll, "small": small, "wide": wide}
