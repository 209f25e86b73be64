"""Where an axis of days is marked: at the first of months, quarters or years, as people read time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

MOST = 13
"""Marks, so that one can be read beside the next: months of a year and the one after."""
FEWEST = 3
STEPS: tuple[tuple[Callable[[int, int], int], str], ...] = (
    (lambda year, month: 12 * year + month - 1, "month"),
    (lambda year, month: 4 * year + (month - 1) // 3, "month"),
    (lambda year, month: year, "year"),
    (lambda year, month: year // 2, "year"),
    (lambda year, month: year // 5, "year"),
    (lambda year, month: year // 10, "year"),
    (lambda year, month: year // 20, "year"),
    (lambda year, month: year // 50, "year"),
    (lambda year, month: year // 100, "year"),
)
"""In which month, quarter, year, ... a day lies, and how such a place is written."""


def marks(labels: Sequence[str]) -> list[tuple[int, str]] | None:
    """Places and their texts, for cells that begin with days such as 2024-03-01; None where each is better named.

    The cell of missing days, the last one, keeps its name. Only whole steps are marked: the piece of one at the
    beginning has no mark, else it would crowd the next.

    >>> days = [f"{year}-{month:02}-01" for year in (2023, 2024) for month in range(1, 13)]
    >>> marks(days)[:3], marks(days[:4])
    ([(0, '2023-01'), (3, '2023-04'), (6, '2023-07')], None)
    """
    began = [_began(label) for label in labels]
    days = [each for each in began if each is not None]
    rest = len(labels) - len(days)
    if len(labels) <= MOST or rest > 1 or (rest == 1 and began[-1] is not None):
        return None
    last = [(len(days), labels[-1])] if rest else []
    for step, written in STEPS:
        steps = [step(year, month) for year, month, _ in days]
        places = [place for place in range(len(days)) if _begins(days, steps, place, step)]
        if FEWEST <= len(places) <= MOST:
            cut = 7 if written == "month" else 4
            return [(place, labels[place][:cut]) for place in places] + last
    return None


def _began(label: str) -> tuple[int, int, int] | None:
    """The day with which a label begins."""
    parts = label[:10].split("-")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def _begins(
    days: Sequence[tuple[int, int, int]], steps: Sequence[int], place: int, step: Callable[[int, int], int]
) -> bool:
    """Whether a step begins here: later than in the cell before, or in the first cell on its very first day."""
    if place:
        return steps[place] != steps[place - 1]
    year, month, day = days[0]
    before = (year, month - 1) if month > 1 else (year - 1, 12)
    return day == 1 and step(year, month) != step(*before)
