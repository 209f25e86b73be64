"""The figure that people are told before they pay: how far off the chosen questions will be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from core.base.arrays import Floats
from core.base.wording import plural
from core.mechanisms.kit.protocol import Expected
from core.planning.simulation.trial import Trial

LEAST = 0.05
"""Rows; a logarithm needs something above 0, and less than this is exact for everybody."""
LEAST_WORST = 0.5
"""Rows; the largest error of many counts is a whole row or nearly none, and by how little says nothing of how
far the next run is off."""
SPREAD, STUDIED_SPREAD, SPREAD_RUNS = 0.35, 0.6, 4
"""What logarithms of errors usually vary by between tables, of mechanisms that compete and of those for study, whose
largest error is often that of the largest count; and how many trials that is worth beside those that were made.
Measured on six tables of each of some 12 schemas: 0.33 to 0.5 in the middle of the schemas, for `iterative-median` and
the games 0.5 to 0.65."""
BEYOND = 1.9
"""Spreads above the middle that 'all within' lies: 1.645 for 95 % if the look-alikes had the law of real tables."""

How = Literal["simulated", "modelled"]


@dataclass(frozen=True, kw_only=True)
class Figure(Expected):
    """The mean error of a chosen question, and what all of them stay within, 95 % of the time; in rows."""

    low: float
    high: float
    """A band for the mean error: nine of ten tables like the stand-ins fall into it."""
    rows: int
    """Of the table that it speaks of, as declared."""
    runs: int
    """Trials that it follows from; 0 where it was modelled."""
    seconds: float = field(compare=False, repr=False)
    """That one run takes: the machine's, so the same figure may come with another time."""
    how: How
    counts: float | None = None
    """Mean error of a count of the tables that were asked for, where trials showed it: beside other questions the mean
    of all says little of them."""

    def to_json(self) -> dict[str, Any]:
        """As a certificate shows it: without the time, which is the machine's."""
        return {
            "mean": round_error(self.mean),
            "worst": round_error(self.worst),
            "about": self.about,
            "low": round_error(self.low),
            "high": round_error(self.high),
            "rows": self.rows,
            "runs": self.runs,
            "how": self.how,
        }


def figure_of(
    trials: Sequence[Trial], rows: int, on: str, counting: float = 0.0, kinds: int = 1, usual: float = SPREAD
) -> Figure:
    """What trials show, on tables of so many kinds by turns.

    On tables of one kind errors differ by the noise, so they are averaged; between kinds they differ by factors, and
    the square of their mean root lies between the mean, which the worst kind rules, and the mean of logarithms, which
    the best one does. `counting` is how many seconds the rows beyond those of a trial take; `usual` is the spread while
    few trials were made.
    """
    errors = np.array([trial.mean for trial in trials])
    each = np.array([errors[place::kinds].mean() for place in range(min(kinds, len(trials)))])
    mean = max(float(np.sqrt(each).mean() ** 2), LEAST)
    counts = [trial.counts for trial in trials if trial.counts is not None]
    middle, spread = _middle(log_errors(trials), usual)
    worst, beyond = _middle(_logs([trial.worst for trial in trials], LEAST_WORST), usual)
    return Figure(
        mean=mean,
        worst=min(worst * math.exp(BEYOND * beyond), float(rows)),
        about=f"The chosen questions, in {plural(len(trials), 'run')} on {on}",
        low=min(middle * math.exp(-1.645 * spread), mean),
        high=max(middle * math.exp(1.645 * spread), mean),
        rows=rows,
        runs=len(trials),
        seconds=counting + float(np.median([trial.seconds for trial in trials])),
        how="simulated",
        counts=float(np.sqrt(counts).mean() ** 2) if counts else None,
    )


def log_errors(trials: Sequence[Trial]) -> Floats:
    """Logarithms of the mean errors, in the order of the tables."""
    return _logs([trial.mean for trial in trials], LEAST)


def _logs(errors: Sequence[float], least: float) -> Floats:
    return np.log(np.maximum(errors, least))


def _middle(logs: Floats, usual: float) -> tuple[float, float]:
    """The middle of some errors, and how far from it the logarithm of the next one is.

    Logarithms vary as seen, and as usual while few were seen; and the middle of a few is off itself.
    """
    seen = float(((logs - logs.mean()) ** 2).sum())
    spread = math.sqrt((seen + SPREAD_RUNS * usual**2) / (logs.size - 1 + SPREAD_RUNS))
    return float(np.exp(logs.mean())), spread * math.sqrt(1 + 1 / logs.size)


def round_error(error: float) -> float:
    """Three digits: more is not known."""
    return float(f"{error:.3g}")
