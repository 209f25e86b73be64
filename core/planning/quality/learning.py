"""Train on synthetic, test on real: does a model that learnt from the release predict as well as one of the table?

**Privacy** None: the test rows are private and the figures exact, for the curator's eyes only.

The table is halved at random. One model learns from a half, another from as many records of the release, and both
predict the other half. Columns enter by their groups of cells (`groups.py`). Gradient boosted trees by scikit-learn,
which is optional: `pip install "release-desk[learn]"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.base.arrays import Codes, Floats
from core.base.errors import BadParameter, Refused, printable
from core.planning.quality.groups import groups_of
from core.schema.domain import Attribute, Domain

MOST_ROWS = 10_000
"""Rows to learn from, and to be tested on: more make a figure that moves by less than a percent."""
FEWEST_ROWS = 50
FEW_VALUES = 12
"""Cells up to which an ordered target is a class of its own and not a number."""
ROUNDS, LEAVES = 40, 7
LITTLE = 0.01
"""What a model must get right beyond guessing, so that a share of it means something."""
NEEDED = "This comparison needs scikit-learn: install it with pip install 'release-desk[learn]'."


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """How well a target column was predicted on real rows that neither model had seen."""

    target: str
    measure: Literal["accuracy", "explained variance"]
    real: float
    """Learnt from real rows."""
    synthetic: float
    """Learnt from the release."""
    blind: float
    """Always the most frequent value, or the mean."""
    rows: int
    """Real rows that were predicted."""

    def sentence(self) -> str:
        word = "of the rows right" if self.measure == "accuracy" else "of the variance explained"
        gain = self.real - self.blind
        kept = " So the other columns say little about it."
        if gain > LITTLE:
            share = round(max(0.0, 100 * (self.synthetic - self.blind) / gain))
            # By chance the release can teach more than half of the table does.
            kept = f" So {f'{share} %' if share < 100 else 'all'} of what can be learnt is kept."
        return (
            f"A model for '{printable(self.target)}' that learnt from the release gets {_shown(self.synthetic)} "
            f"{word}, one that learnt from the table {_shown(self.real)}; the usual value alone gives "
            f"{_shown(self.blind)}.{kept}"
        )


def _shown(share: float) -> str:
    return f"{100 * max(share, 0.0):.1f} %"


def learn(domain: Domain, real: Codes, synthetic: Codes, target: str, generator: np.random.Generator) -> Lesson:
    """Both are records as codes in the order of the domain."""
    attribute = domain[target]
    if len(domain) < 2:
        raise BadParameter("target", "needs another column to be predicted from.")
    number = attribute.ordered and attribute.regular > FEW_VALUES
    real, synthetic = (_drawn(_usable(each, domain, target, number), generator) for each in (real, synthetic))
    half = len(real) // 2
    if half < FEWEST_ROWS or len(synthetic) < FEWEST_ROWS:
        raise Refused(f"Column '{printable(target)}' has too few rows to learn from and to test on.")
    test, own = real[half : half + MOST_ROWS], real[:half][:MOST_ROWS]
    given = synthetic[: len(own)]
    goal = _goal(attribute, number)
    inputs, known = _inputs(domain, target), goal[test[:, domain.names.index(target)]]
    place = domain.names.index(target)

    def scored(rows: Codes) -> float:
        answers = goal[rows[:, place]]
        guess = _fitted(inputs(rows), answers, _unordered(domain, target), number)(inputs(test))
        return _score(known, guess, number)

    usual = np.full(len(test), goal[own[:, place]].mean()) if number else _most(goal[own[:, place]], len(test))
    return Lesson(
        target=target,
        measure="explained variance" if number else "accuracy",
        real=scored(own),
        synthetic=scored(given),
        blind=_score(known, usual, number),
        rows=len(test),
    )


def _usable(rows: Codes, domain: Domain, target: str, number: bool) -> Codes:
    """Rows whose target is known, where it is a number."""
    place = domain.names.index(target)
    return rows[rows[:, place] < domain[target].regular] if number else rows


def _drawn(rows: Codes, generator: np.random.Generator) -> Codes:
    return rows[generator.permutation(len(rows))[: 2 * MOST_ROWS]]


def _goal(attribute: Attribute, number: bool) -> Floats:
    return attribute.centers() if number else groups_of(attribute).astype(np.float64)


def _inputs(domain: Domain, target: str) -> Any:
    others = [(place, groups_of(domain[name])) for place, name in enumerate(domain.names) if name != target]
    return lambda rows: np.stack([groups[rows[:, place]] for place, groups in others], axis=1).astype(np.float64)


def _unordered(domain: Domain, target: str) -> list[bool]:
    return [not domain[name].ordered for name in domain.names if name != target]


def _fitted(inputs: Floats, goal: Floats, unordered: list[bool], number: bool) -> Any:
    """The prediction of a model that learnt these rows."""
    if len(np.unique(goal)) < 2:
        return lambda rows: np.full(len(rows), goal[0])
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    except ImportError:
        raise Refused(NEEDED) from None
    kind = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    model = kind(
        max_iter=ROUNDS, max_leaf_nodes=LEAVES, categorical_features=unordered, early_stopping=False, random_state=0
    )
    return model.fit(inputs, goal).predict


def _most(goal: Floats, count: int) -> Floats:
    values, often = np.unique(goal, return_counts=True)
    return np.full(count, values[int(often.argmax())])


def _score(known: Floats, guess: Floats, number: bool) -> float:
    if not number:
        return float((known == guess).mean())
    spread = float(((known - known.mean()) ** 2).sum())
    return 1 - float(((known - guess) ** 2).sum()) / spread if spread > 0 else 0.0
