"""An attacker's advantage: how much more often an accusation is right than it is false.

Targets are people inside and outside of what was published, chosen alike. **Membership inference**: the share of those
inside who are called insiders minus the share of those outside who are (Yeom et al. 2018). **Attribute inference**: the
share of those inside whose secret is guessed minus that share outside: what is known of strangers is no harm of the
publication.

The attacker chooses the way to attack and the threshold on one half of the targets and is judged on the other, then the
other way round: otherwise the best of many thresholds would seem to know something by chance.

**Accuracy** of a private publication both advantages have an expectation of at most (e^epsilon - 1 + 2 delta)/
(e^epsilon + 1) if each target was put in or out independently of everything else (`base.odds.most_advantage`): given
all others the two worlds are neighbours, and the attacker may know all others. What is measured spreads by `spread`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.attacks.published import Publication
from core.base.arrays import Codes, Flags, Floats
from core.base.errors import BadParameter

LEAST_TARGETS = 8


@dataclass(frozen=True, kw_only=True)
class Advantage:
    """Shares of accusations that are right and false, and what they differ by."""

    right: float
    """Inside: called insiders, or their secret guessed."""
    false: float
    """The same outside."""
    targets: int
    """People inside and outside together, half each."""

    @property
    def value(self) -> float:
        return self.right - self.false

    @property
    def spread(self) -> float:
        """The standard error of the difference of two shares."""
        each = self.targets / 2
        return math.sqrt((self.right * (1 - self.right) + self.false * (1 - self.false)) / each)


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Rows of whom some are inside; equally many are not."""

    rows: Codes
    inside: Flags
    reference: Codes
    """Rows of other people of the same kind, which the attacker has from elsewhere."""

    def __post_init__(self) -> None:
        if len(self.rows) < LEAST_TARGETS or int(self.inside.sum()) * 2 != len(self.rows):
            raise BadParameter("targets", f"must be at least {LEAST_TARGETS} rows, half of them inside.")


def membership(publication: Publication, targets: Targets) -> Advantage:
    """Who is inside, by the way and threshold that do best on the other half of the targets."""
    scores = publication.suspicions(targets.rows, targets.reference)
    called = np.zeros(len(targets.rows), dtype=bool)
    for judged in _halves(targets.inside):
        way, threshold = max(
            ((way, _threshold(values[~judged], targets.inside[~judged])) for way, values in scores.items()),
            key=lambda found: _gain(scores[found[0]][~judged] >= found[1], targets.inside[~judged]),
        )
        called[judged] = scores[way][judged] >= threshold
    return _advantage(called, targets.inside)


def attribute(publication: Publication, targets: Targets, secret: int) -> Advantage:
    """Whose secret is guessed, by the way that does best on the other half."""
    right: Mapping[str, Flags] = {
        way: guessed == targets.rows[:, secret] for way, guessed in publication.guesses(targets.rows, secret).items()
    }
    found = np.zeros(len(targets.rows), dtype=bool)
    for judged in _halves(targets.inside):
        way = max(right, key=lambda name: _gain(right[name][~judged], targets.inside[~judged]))
        found[judged] = right[way][judged]
    return _advantage(found, targets.inside)


def _halves(inside: Flags) -> tuple[Flags, Flags]:
    """Every other one of those inside, and of those outside; and the rest."""
    first = np.zeros(len(inside), dtype=bool)
    for group in (np.flatnonzero(inside), np.flatnonzero(~inside)):
        first[group[::2]] = True
    return first, ~first


def _threshold(scores: Floats, inside: Flags) -> float:
    """The one that tells most of those inside from those outside."""
    order = np.argsort(-scores, kind="stable")
    gains = np.cumsum(np.where(inside[order], 1 / inside.sum(), -1 / (~inside).sum()))
    # Equal scores fall on one side together: only the last of each counts.
    last = np.append(scores[order][1:] != scores[order][:-1], True)
    best = int(np.argmax(np.where(last, gains, -np.inf)))
    return float(scores[order][best]) if gains[best] > 0 else math.inf


def _gain(called: Flags, inside: Flags) -> float:
    return float(called[inside].mean() - called[~inside].mean())


def _advantage(called: Flags, inside: Flags) -> Advantage:
    return Advantage(right=float(called[inside].mean()), false=float(called[~inside].mean()), targets=len(inside))
