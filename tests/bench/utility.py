"""What people do with the records: models that are trained on synthetic rows and tested on real ones, and estimates.

Seven tenths of a table's rows are released, by `tree` as it is and with the column to predict named as its target, at
delta 1e-9; as many rows are drawn. Boosted trees and logistic regression predict the target of the other rows: `auc_*`
is the area under the curve, and `gap_*` what is left of the distance between real-trained and peer-trained.
`correlation` is the mean error of correlations of ordered columns, `group_mean` that of the target's share by each
column, in standard errors of real rows, and `coefficient` that of the coefficients of a linear regression of the target
on the ordered columns, likewise. `within_*` is the share of those that lie within their 95 % intervals from synthetic
copies, about the table, and `width_*` how wide these are (`kit/estimates.py`), here and on generated tables, of which
some were not looked at before. dpmm runs beside it where an interpreter that has it is named (`kit/dpmm_peer.py`), else
its recorded figures stand in, where there are any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.mechanisms.tree.tree import Tree
from core.privacy.budget import Budget
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from core.table.stand_in import StandIn
from tests.bench.kit import dpmm_peer
from tests.bench.kit.estimates import BETWEEN, HELD_OUT, ONCE_HELD_OUT, TUNED, covered, family_table, regression
from tests.bench.kit.line import Line
from tests.bench.kit.real_data import adult, adult_folder
from tests.bench.kit.utility_tables import TABLES
from tests.bench.marginals import DELTA
from tests.kernels import run as release_of

EPSILONS, RUNS, COPIES = (0.1, 1.0, 10.0), 3, 10
CENSUS_TARGET = "income>50K"
METRICS = ("auc_boosted", "auc_logistic", "correlation", "group_mean", "coefficient")
RECORDED: dict[tuple[str, float], dict[str, tuple[float, ...]]] = {
    ("adult", 1.0): {
        "dpmm MST": (0.819, 0.7927, 0.05341, 8.007, 23.69),
        "dpmm AIM": (0.8719, 0.8697, 0.05078, 10.05, 18.44),
    },
    ("credit", 1.0): {
        "dpmm MST": (0.6505, 0.6911, 0.02284, 2.299, 15.2),
        "dpmm AIM": (0.7314, 0.7479, 0.06726, 1.526, 3.883),
    },
    ("readmission", 1.0): {
        "dpmm MST": (0.5334, 0.557, 0.05356, 1.535, 3.52),
        "dpmm AIM": (0.4691, 0.4607, 0.03948, 1.824, 3.96),
    },
    ("churn", 1.0): {
        "dpmm MST": (0.8352, 0.8395, 0.1011, 2.663, 8.944),
        "dpmm AIM": (0.8447, 0.8502, 0.1267, 2.88, 9.902),
    },
}
"""Figures of dpmm by table and epsilon, where it is not run: one release each, of the same rows, in these metrics."""
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Task:
    """A table, its column to predict, and rows that are kept aside."""

    name: str
    domain: Domain
    target: str
    known: StandIn
    aside: Codes

    @classmethod
    def of(cls, name: str, table: StandIn, target: str) -> Task:
        order = np.random.default_rng(5).permutation(len(table.codes))
        cut = int(0.7 * len(order))
        known = StandIn(table.domain, table.codes[order[:cut]], table.unit)
        return cls(name, table.domain, target, known, table.codes[order[cut:]])

    @property
    def place(self) -> int:
        return self.domain.names.index(self.target)

    @property
    def others(self) -> list[int]:
        return [place for place in range(len(self.domain)) if place != self.place]

    def ordered(self) -> list[int]:
        return [place for place in self.others if self.domain[self.domain.names[place]].ordered]


def run() -> Iterator[Line]:
    for task in _tasks():
        real = _trained(task, task.known.codes)
        for metric, figure in real.items():
            yield Line("utility", f"{task.name} real rows", metric, figure)
        for epsilon in EPSILONS:
            yield from _beside(task, epsilon, real)
    for family, seed in (*TUNED, *BETWEEN, *ONCE_HELD_OUT, *HELD_OUT):
        words = " held out" if (family, seed) in HELD_OUT else ""
        task = Task.of(f"{family} {seed}{words}", *family_table(family, seed))
        for epsilon in EPSILONS:
            yield from _covered(task, epsilon)


def _covered(task: Task, epsilon: float) -> Iterator[Line]:
    tree = Tree(queries=(Marginals(order=2),), budget=Budget(epsilon, DELTA))
    for metric, figure in covered(task, tree, RUNS, COPIES).items():
        yield Line("utility", f"{task.name} eps={epsilon:g}", metric, figure)


def _tasks() -> Iterator[Task]:
    folder = adult_folder()
    if folder is not None:
        yield Task.of("adult", adult(folder), CENSUS_TARGET)
    for name, made in TABLES.items():
        yield Task.of(name, made(), "target")


def _beside(task: Task, epsilon: float, real: dict[str, float]) -> Iterator[Line]:
    budget, case = Budget(epsilon, DELTA), f"{task.name} eps={epsilon:g}"
    plain = _released(task, Tree(queries=(Marginals(order=2),), budget=budget))
    named = _released(task, Tree(queries=(Marginals(order=2),), budget=budget, target=task.target))
    yield from _covered(task, epsilon)
    theirs = _peers(task, epsilon)
    for words, figures in ((case, plain), (f"{case} target named", named)):
        for metric, ours in figures.items():
            for peer, (each, origin) in theirs.items():
                yield Line("utility", words, metric, ours, peer, each[metric], origin)
            if not theirs:
                yield Line("utility", words, metric, ours)
        for peer, (each, origin) in theirs.items():
            for metric in ("auc_boosted", "auc_logistic"):
                left = (real[metric] - figures[metric]) / max(real[metric] - each[metric], 1e-9)
                yield Line("utility", words, metric.replace("auc", "gap"), left, peer, 1.0, origin)


def _released(task: Task, tree: Tree) -> dict[str, float]:
    found = []
    for _ in range(RUNS):
        model = release_of(tree, task.known)
        found.append(figures_of(task, model.sample(len(task.known.codes), np.random.default_rng())))
    return {metric: float(np.mean([each[metric] for each in found])) for metric in found[0]}


def _peers(task: Task, epsilon: float) -> dict[str, tuple[dict[str, float], str]]:
    python = dpmm_peer.interpreter()
    if python is None:
        known = RECORDED.get((task.name, epsilon), {})
        return {peer: (dict(zip(METRICS, each, strict=True)), "recorded") for peer, each in known.items()}
    sizes = dict(zip(task.domain.names, task.domain.shape(), strict=True))
    drawn = {
        peer: dpmm_peer.synthetic(python, peer, task.known.codes, sizes, epsilon, DELTA)[0] for peer in dpmm_peer.MODELS
    }
    return {peer: (figures_of(task, codes), "run") for peer, codes in drawn.items()}


def figures_of(task: Task, drawn: Codes) -> dict[str, float]:
    """Everything that is measured of synthetic rows, whoever drew them."""
    return _trained(task, drawn) | _estimates(task, drawn)


def _trained(task: Task, rows: Codes) -> dict[str, float]:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if np.unique(rows[:, task.place]).size < 2:
        return {"auc_boosted": 0.5, "auc_logistic": 0.5}
    ordered = [task.others.index(place) for place in task.ordered()]
    others = [place for place in range(len(task.others)) if place not in ordered]
    shown = ColumnTransformer(
        [("ordered", StandardScaler(), ordered), ("others", OneHotEncoder(handle_unknown="ignore"), others)]
    )
    boosted = HistGradientBoostingClassifier(categorical_features=others, early_stopping=False, random_state=0)
    models = {
        "auc_boosted": boosted,
        "auc_logistic": make_pipeline(shown, LogisticRegression(max_iter=300)),
    }
    truth = task.aside[:, task.place]
    return {
        name: float(
            roc_auc_score(
                truth,
                model.fit(rows[:, task.others], rows[:, task.place]).predict_proba(task.aside[:, task.others])[:, 1],
            )
        )
        for name, model in models.items()
    }


def _estimates(task: Task, drawn: Codes) -> dict[str, float]:
    real, ordered = task.known.codes, task.ordered()
    above = np.triu_indices(len(ordered), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.corrcoef(real[:, ordered].T)[above] - np.nan_to_num(np.corrcoef(drawn[:, ordered].T))[above]
    slopes, errors = regression(real[:, ordered], real[:, task.place])
    theirs, _ = regression(drawn[:, ordered], drawn[:, task.place])
    return {
        "correlation": float(np.abs(apart).mean()),
        "group_mean": _group_means(task, drawn),
        "coefficient": float(np.mean(np.abs(slopes - theirs) / errors)),
    }


def _group_means(task: Task, drawn: Codes) -> float:
    """How far the target's share in groups of at least 100 real rows is off, in standard errors of the real rows."""
    real, apart = task.known.codes, []
    for place in task.others:
        cells, both = int(real[:, place].max()) + 1, (real, drawn)
        sizes = [np.bincount(rows[:, place], minlength=cells)[:cells] for rows in both]
        hits = [np.bincount(rows[:, place], weights=rows[:, task.place], minlength=cells)[:cells] for rows in both]
        kept = np.flatnonzero(sizes[0] >= 100)
        shares = [hit[kept] / np.maximum(size[kept], 1) for hit, size in zip(hits, sizes, strict=True)]
        error = np.sqrt(np.maximum(shares[0] * (1 - shares[0]), 1 / sizes[0][kept]) / sizes[0][kept])
        apart += (np.abs(shares[0] - shares[1]) / error).tolist()
    return float(np.mean(apart))
