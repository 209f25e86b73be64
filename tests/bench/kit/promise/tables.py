"""Tables of very different kinds on which promises are checked: laws that have nothing in common with the planner's.

All of these were looked at when the planner's stand-ins were chosen; `held_out.py` has those that were not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.bench.kit.real_data import ROOT, adult, adult_folder

FEW = ("age", "education-num", "marital-status", "sex", "hours-per-week", "income>50K")


def demo() -> StandIn:
    """The demo table: visits to a clinic, up to three of which belong to one patient."""
    domain = Domain.from_json((ROOT / "data" / "clinic_visits.schema.json").read_text())
    frame = pd.read_csv(ROOT / "data" / "clinic_visits.csv")
    return StandIn.of(frame, domain, Unit.id("patient_id", 3))


def census() -> StandIn | None:
    """Real: a census table of 48,842 rows and 14 columns; None where it is not here."""
    folder = adult_folder(", so two tables are left out")
    return None if folder is None else adult(folder, yes_or_no=True)


def adult_few() -> StandIn | None:
    """Six of its columns."""
    whole = census()
    if whole is None:
        return None
    places = [whole.domain.names.index(name) for name in FEW]
    return StandIn(whole.domain.project(FEW), whole.codes[:, places], whole.unit)


def independent() -> StandIn:
    """Eight columns that know nothing of each other: flat, triangular and binomial ones."""
    generator, rows = np.random.default_rng(101), 50_000
    laws = {
        "flat": (24, generator.integers(0, 24, rows)),
        "triangle": (40, generator.triangular(0, 10, 40, rows).astype(int)),
        "binomial": (17, generator.binomial(16, 0.4, rows)),
        "poisson": (12, np.minimum(generator.poisson(2.5, rows), 11)),
        "coin": (2, generator.integers(0, 2, rows)),
        "rare": (2, (generator.random(rows) < 0.03).astype(int)),
        "die": (6, generator.integers(0, 6, rows)),
        "sides": (9, np.abs(generator.integers(0, 9, rows) - generator.integers(0, 9, rows))),
    }
    return _made(laws, {"flat", "triangle", "binomial", "poisson"})


def dependent() -> StandIn:
    """A chain: each column is a coarse or shifted copy of the one before, wrong in one row of twenty."""
    generator, rows = np.random.default_rng(102), 20_000
    laws: dict[str, tuple[int, np.ndarray]] = {"c0": (30, generator.binomial(29, generator.beta(2, 3, rows)))}
    for place, size in enumerate((15, 8, 30, 2, 12, 5, 2, 20, 2), start=1):
        before, values = laws[f"c{place - 1}"]
        copied = (values * size) // before if size < before else (values * size) // before + place % 2
        wrong = generator.random(rows) < 0.05
        laws[f"c{place}"] = (size, np.where(wrong, generator.integers(0, size, rows), np.minimum(copied, size - 1)))
    return _made(laws, {"c0", "c1", "c3", "c8"})


def sparse() -> StandIn:
    """Five large columns of which few combinations occur: 300 templates with rare changes."""
    generator, rows = np.random.default_rng(103), 8_000
    sizes = {"place": 80, "job": 60, "hour": 96, "kind": 40, "paid": 2}
    templates = np.stack([generator.integers(0, size, 300) for size in sizes.values()], axis=1)
    weights = generator.pareto(1.2, 300) + 0.01
    codes = templates[generator.choice(300, rows, p=weights / weights.sum())]
    for place, size in enumerate(sizes.values()):
        changed = generator.random(rows) < 0.02
        codes[changed, place] = generator.integers(0, size, int(changed.sum()))
    laws = {name: (size, codes[:, place]) for place, (name, size) in enumerate(sizes.items())}
    return _made(laws, {"hour", "place"})


def heavy_tailed() -> StandIn:
    """Amounts by power laws that share a scale, in 100 equal steps; most rows are in the first few."""
    generator, rows = np.random.default_rng(104), 100_000
    scale = generator.gamma(0.5, 1.0, rows)
    laws: dict[str, tuple[int, np.ndarray]] = {}
    for name, power in (("income", 1.3), ("spent", 1.8), ("debt", 0.9)):
        laws[name] = (100, np.minimum(scale * generator.pareto(power, rows) * 3, 99).astype(int))
    laws["owns"] = (2, (generator.random(rows) < 1 / (1 + np.exp(1 - scale))).astype(int))
    laws["region"] = (16, np.minimum(generator.zipf(1.7, rows) - 1, 15))
    laws["late"] = (2, (laws["debt"][1] > laws["income"][1]).astype(int))
    return _made(laws, {"income", "spent", "debt"})


def small() -> StandIn:
    """1,300 rows of nine columns, as a survey of a school would have."""
    generator, rows = np.random.default_rng(105), 1_300
    age = generator.integers(10, 19, rows)
    grade = np.clip(age - 10 + generator.integers(-1, 2, rows), 0, 8)
    mark = np.clip(generator.normal(9 - 0.3 * (age - 10), 2.5, rows), 0, 15).astype(int)
    laws = {
        "age": (9, age - 10),
        "grade": (9, grade),
        "mark": (16, mark),
        "minutes": (61, np.minimum(generator.exponential(18, rows), 60).astype(int)),
        "girl": (2, generator.integers(0, 2, rows)),
        "bus": (2, (generator.random(rows) < 0.3).astype(int)),
        "sport": (7, generator.choice(7, rows, p=(0.3, 0.25, 0.2, 0.1, 0.08, 0.05, 0.02))),
        "lunch": (3, generator.integers(0, 3, rows)),
        "pass": (2, (mark >= 5).astype(int)),
    }
    return _made(laws, {"age", "grade", "mark", "minutes"})


def wide() -> StandIn:
    """35 columns in seven groups that each follow a hidden trait, as answers to a questionnaire do."""
    generator, rows = np.random.default_rng(106), 30_000
    laws: dict[str, tuple[int, np.ndarray]] = {}
    for group in range(7):
        trait = generator.logistic(size=rows)
        for item in range(5):
            size = (2, 5, 5, 3, 7)[item]
            shifted = trait * (0.4 + 0.3 * item) + generator.logistic(size=rows) + generator.uniform(-1, 1)
            laws[f"q{group}{item}"] = (size, np.clip(np.floor((shifted + 3) / 6 * size), 0, size - 1).astype(int))
    ordered = {name for name, (size, _) in laws.items() if size > 2}
    return _made(laws, ordered)


TABLES: Mapping[str, Callable[[], StandIn | None]] = {
    "demo": demo,
    "independent": independent,
    "sparse": sparse,
    "small": small,
    "adult": census,
    "adult-few": adult_few,
    "dependent": dependent,
    "heavy-tailed": heavy_tailed,
    "wide": wide,
}


@dataclass
class Laws:
    """The columns of a table that is being made up."""

    names: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    ordered: set[str] = field(default_factory=set)

    def add(self, name: str, size: int, values: np.ndarray, *, ordered: bool = False) -> None:
        self.names.append(name)
        self.sizes.append(size)
        self.values.append(np.asarray(values).astype(np.int64))
        self.ordered |= {name} if ordered else set()


def made_table(laws: Laws, unit: Unit | None = None) -> StandIn:
    """Columns of two values are yes or no; those with an order are whole numbers."""
    columns = [
        Booleans(name=name)
        if size == 2
        else Integers(name=name, low=0, high=size - 1)
        if name in laws.ordered
        else Categories(name=name, values=tuple(f"v{value}" for value in range(size)))
        for name, size in zip(laws.names, laws.sizes, strict=True)
    ]
    return StandIn(Domain(tuple(columns)), np.stack(laws.values, axis=1), unit or Unit.row())


def _made(columns: Mapping[str, tuple[int, np.ndarray]], ordered: set[str]) -> StandIn:
    laws = Laws()
    for name, (size, values) in columns.items():
        laws.add(name, size, values, ordered=name in ordered)
    return made_table(laws)
