"""Numbers, sums, means and quantiles by group, from answers to `Statistics` and how far each of those may be off.

**Accuracy** Let every answer (rows with a value c, sum of places p, running counts P_j) be off by at most m rows, all
at once. Then c lies within c ± m; the sum within low c + span p ± (|low| + span) m, for middles of cells from low to
low + span; the mean between low + span (p - m)/(c + m) and low + span (p + m)/(c - m); and a value j is too small to be
the q-quantile if P_j + m < q (c - m), and not too small if P_j - m >= q (c + m). All these intervals hold together, as
often as m does. A row counts at the middle of its cell; intervals say nothing about that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.queries.statistics import Statistics
from core.schema.domain import Domain

QUANTILES = {"10 %": 0.1, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "90 %": 0.9}


@dataclass(frozen=True)
class Between:
    """A number and the ends of its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupLine:
    """One group: its cells in plain words, and its statistics by name."""

    labels: tuple[str, ...]
    """In the order in which the groups were asked for."""
    numbers: dict[str, Between]


def lines_by_group(asked: Statistics, domain: Domain, answers: Floats, margin: float | None) -> Iterator[GroupLine]:
    """One line per group, from all answers of the class in rows; `margin` bounds their errors, in rows.

    >>> from core.schema.domain import Integers
    >>> ages = Domain((Integers(name="age", low=0, high=2),))
    >>> [line] = lines_by_group(Statistics(column="age"), ages, np.array([10.0, 5.0, 2.0, 8.0]), None)
    >>> line.numbers["mean"].value, line.numbers["median"].value
    (1.0, 1.0)
    """
    attribute = domain[asked.column]
    values = attribute.centers()[: attribute.regular]
    groups = [name for name in asked.columns(domain) if name != asked.column]
    shaped = np.asarray(answers, dtype=np.float64).reshape(*domain.shape(groups), attribute.regular + 1)
    for codes in np.ndindex(*domain.shape(groups)):
        cell = dict(zip(groups, codes, strict=True))
        labels = tuple(domain[name].label(cell[name]) for name in asked.groups)
        yield GroupLine(labels, _numbers(shaped[codes], values, margin))


def _numbers(answers: Floats, values: Floats, margin: float | None) -> dict[str, Between]:
    rows, places = float(answers[0]), float(answers[1])
    running = np.append(answers[2:], rows)
    found = {"number": _number(rows, margin), "sum": _sum(rows, places, values, margin)}
    found["mean"] = _mean(rows, places, values, margin)
    return found | {name: _quantile(rows, running, values, share, margin) for name, share in QUANTILES.items()}


def _number(rows: float, margin: float | None) -> Between:
    return Between(rows) if margin is None else Between(rows, max(0.0, rows - margin), max(0.0, rows + margin))


def _sum(rows: float, places: float, values: Floats, margin: float | None) -> Between:
    low, span = float(values[0]), float(values[-1] - values[0])
    total = low * rows + span * places
    room = 0.0 if margin is None else (abs(low) + span) * margin
    return Between(total) if margin is None else Between(total, total - room, total + room)


def _mean(rows: float, places: float, values: Floats, margin: float | None) -> Between:
    low, span = float(values[0]), float(values[-1] - values[0])

    def at(place: float) -> float:
        return low + span * min(max(place, 0.0), 1.0)

    value = at(places / rows) if rows > 0 else None
    if margin is None:
        return Between(value)
    most = at((places + margin) / (rows - margin)) if rows > margin else at(1.0)
    return Between(value, at((places - margin) / max(rows + margin, 1e-300)), most)


def _quantile(rows: float, running: Floats, values: Floats, share: float, margin: float | None) -> Between:
    last = len(values) - 1
    value = float(values[min(int(np.argmax(running >= share * rows)), last)]) if rows > 0 else None
    if margin is None:
        return Between(value)
    too_small = running + margin < share * (rows - margin)
    enough = running - margin >= share * (rows + margin)
    # The last value is never too small, and always enough.
    too_small[last], enough[last] = False, True
    first = int(np.flatnonzero(too_small)[-1]) + 1 if too_small.any() else 0
    return Between(value, float(values[first]), float(values[int(np.argmax(enough))]))
