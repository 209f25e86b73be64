"""Counts of a column as few enough bars for a report: neighbouring cells of a long range are drawn together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import Floats
from core.release.reports.drawing import MOST_BARS
from core.schema.attributes import Attribute

ROUND = (1, 2, 5)
"""Cells that are drawn as one bar, times a power of ten."""
TO = " to "


def together(attribute: Attribute) -> int:
    """How many neighbouring cells are one bar; one where there is no order, or all have room.

    >>> from core.schema.domain import Integers
    >>> together(Integers(name="age", low=0, high=120)), together(Integers(name="age", low=0, high=39))
    (5, 1)
    """
    aside = attribute.size - attribute.regular
    steps = 1
    while attribute.ordered and attribute.regular > steps * (MOST_BARS - aside):
        steps = next(
            part * power for power in (10**place for place in range(20)) for part in ROUND if part * power > steps
        )
    return steps


def grouped(attribute: Attribute, counts: Floats) -> tuple[list[str], Floats]:
    """Labels and counts of the bars; what is missing or other stays a bar of its own.

    >>> from core.schema.domain import Integers
    >>> labels, counts = grouped(Integers(name="age", low=0, high=99), np.ones(100))
    >>> labels[:2], labels[-1], counts[:2].tolist()
    (['0 to 4', '5 to 9'], '95 to 99', [5.0, 5.0])
    """
    labels, steps = [attribute.label(code) for code in range(attribute.size)], together(attribute)
    if steps == 1:
        return labels, counts
    starts = range(0, attribute.regular, steps)
    named = [_span(labels[start : min(start + steps, attribute.regular)]) for start in starts]
    summed = np.add.reduceat(counts[: attribute.regular], np.fromiter(starts, dtype=np.intp))
    return named + labels[attribute.regular :], np.concatenate([summed, counts[attribute.regular :]])


def _span(labels: Sequence[str]) -> str:
    """From the beginning of the first cell to the end of the last; cells of several values say both themselves."""
    first, last = labels[0].split(TO)[0], labels[-1].split(TO)[-1]
    return first if first == last else f"{first}{TO}{last}"
