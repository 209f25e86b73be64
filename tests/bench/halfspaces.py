"""Random halfspaces of 50,000 points beside the paper's mechanism: 2,000 random normals, mean and largest error.

The points: a mixture of three normal clouds (shares 0.5, 0.3, 0.2) whose centres are normal with deviation 0.25 in each
coordinate and whose coordinates are correlated at random with a deviation of about 0.25, clipped to -1..1, that is, to
the unit ball after division by sqrt(d), in 128 steps per coordinate. The five columns of Adult are age, education-num,
capital-gain, capital-loss and hours-per-week, on the public ranges of the file. Planes pass through the middle of the
ranges; their normals are uniform on the sphere and are not the ones that a mechanism measures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from core.mechanisms.halfspaces.halfspace_fit import HalfspaceFit
from core.mechanisms.halfspaces.halfspace_projections import HalfspaceProjections
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.kit.normals import discretised
from core.schema.domain import Domain, Integers
from core.table.table import Table
from tests.bench.kit.line import Line, cpu_seconds
from tests.bench.kit.real_data import adult_folder
from tests.kernels import run as release_of

ROWS, NORMALS, RUNS, STEPS = 50_000, 2_000, 3, 128
ADULT = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
RECORDED = {
    ("d=2", 1, 0): (0.0015, 0.007),
    ("d=2", 1, 1e-6): (0.0008, 0.003),
    ("d=5", 0.1, 0): (0.028, 0.13),
    ("d=5", 0.1, 1e-6): (0.011, 0.060),
    ("d=5", 1, 0): (0.0107, 0.065),
    ("d=5", 1, 1e-6): (0.0075, 0.050),
    ("d=10", 1, 0): (0.0143, 0.087),
    ("d=10", 1, 1e-6): (0.0098, 0.052),
    ("d=20", 0.1, 0): (0.055, 0.21),
    ("d=20", 0.1, 1e-6): (0.020, 0.097),
    ("d=20", 1, 0): (0.022, 0.112),
    ("d=20", 1, 1e-6): (0.0165, 0.086),
    ("adult", 1, 0): (0.0088, 0.143),
    ("adult", 1, 1e-6): (0.0059, 0.111),
}
"""(data, epsilon, delta) -> mean and largest error of a study of the same kind on points of its own."""


def run() -> Iterator[Line]:
    tables = {f"d={columns}": cloud(columns) for columns in (2, 5, 10, 20)}
    folder = adult_folder()
    if folder is not None:
        tables["adult"] = adult(folder)
    for (name, epsilon, delta), study in RECORDED.items():
        if name in tables:
            yield from _compared(name, tables[name], Budget(epsilon, delta), study)
    yield _speed(tables["d=20"])


def _compared(name: str, table: Table, budget: Budget, study: tuple[float, float]) -> Iterator[Line]:
    words = f"{name} eps={float(budget.epsilon):g} delta={float(budget.delta):g}"
    query = Halfspaces(translated=False, bits=16)
    generator = np.random.default_rng(1)
    normals = discretised(generator.normal(size=(NORMALS, len(table.domain))), query.bits)
    truth = query.totals_at(table, normals) / table.rows
    ours, paper, records = [], [], []
    for _ in range(RUNS):
        fit = release_of(HalfspaceFit(queries=(query,), budget=budget), table)
        ours.append(_errors(query.totals_at(fit, normals) / fit.total, truth))
        projected = release_of(HalfspaceProjections(queries=(query,), budget=budget), table)
        paper.append(_errors(projected.halfspaces(normals) / projected.total, truth))
        records.append(_errors(query.totals_at(projected.points, normals) / projected.total, truth))
    for place, metric in enumerate(("mean_error", "max_error")):
        mine = float(np.mean(ours, axis=0)[place])
        for peer, found in (("halfspace-projections", paper), ("halfspace-projections, its records", records)):
            yield Line("halfspaces", words, metric, mine, peer, float(np.mean(found, axis=0)[place]))
        yield Line("halfspaces", words, metric, mine, "study: K counts + fit", study[place], "recorded")


def _errors(answers: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    wrong = np.abs(answers - truth)
    return float(wrong.mean()), float(wrong.max())


def _speed(table: Table) -> Line:
    mechanism = HalfspaceFit(queries=(Halfspaces(translated=False),), budget=Budget(1, 1e-6))
    seconds = cpu_seconds(lambda: release_of(mechanism, table), 1)
    return Line("halfspaces", "release d=20 1,024 planes", "cpu_s", seconds)


def cloud(columns: int) -> Table:
    """The mixture of three clouds as a table."""
    generator = np.random.default_rng(0)
    labels = generator.choice(3, ROWS, p=[0.5, 0.3, 0.2])
    common = generator.normal(size=(columns, columns))
    points = np.empty((ROWS, columns))
    for label in range(3):
        own = generator.normal(size=(columns, columns))
        centre = generator.normal(0, 0.25, columns)
        drawn = generator.normal(size=(int((labels == label).sum()), columns))
        points[labels == label] = centre + 0.25 * drawn @ (0.7 * common + 0.7 * own) / math.sqrt(columns)
    codes = np.minimum((np.clip(points, -1, 1) + 1) / 2 * STEPS, STEPS - 1).astype(int)
    names = [f"x{place}" for place in range(columns)]
    domain = Domain(tuple(Integers(name=name, low=0, high=STEPS - 1) for name in names))
    return Table.load(pd.DataFrame(codes, columns=names), domain, Unit.row(), Noise())


def adult(folder: Path) -> Table:
    sizes = json.loads((folder / "adult-domain.json").read_text())
    domain = Domain(tuple(Integers(name=name, low=0, high=sizes[name] - 1) for name in ADULT))
    return Table.load(pd.read_csv(folder / "adult.csv", usecols=list(ADULT)), domain, Unit.row(), Noise())
