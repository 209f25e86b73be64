"""Figures as plain HTML and SVG, for a report that opens anywhere and loads nothing.

Lightness carries the meaning, so that a figure can be read without telling hues apart; every figure has a text that
says the same. All labels are escaped: they come from a schema that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

WIDTH, LABEL = 640, 190
MOST_BARS = 40
CELL, MOST_SIDE = 22, 24
WIDEST, SLANTED, LETTER = 90, 16, 7
"""Pixels of the widest cell, letters of the longest name above a grid, and pixels of a letter."""


def bars(title: str, labels: Sequence[str], values: NDArray[np.float64]) -> str:
    """Horizontal bars, one per value; a long list is cut and says so. They are lines of text, to be read on a phone."""
    shown = min(len(labels), MOST_BARS)
    top = float(np.max(values, initial=0.0)) or 1.0
    largest = int(np.argmax(values)) if len(labels) else 0
    parts = [
        f'<p><span>{_short(label)}</span><svg viewBox="0 0 100 1" preserveAspectRatio="none">'
        f'<rect width="{100 * max(0.0, float(value)) / top:.1f}" height="1"/></svg><em>{float(value):,.0f}</em></p>'
        for label, value in zip(labels[:shown], values[:shown], strict=True)
    ]
    cut = f" The first {shown} of {len(labels)} values are drawn." if shown < len(labels) else ""
    alt = f"{title}: {len(labels)} counts; the largest is {float(values[largest]):,.0f} at {labels[largest]}.{cut}"
    return _figure(f'<div class="bars" role="img" aria-label="{escape(alt)}">{"".join(parts)}</div>', alt)


def heat(title: str, sides: Sequence[Sequence[str]], table: NDArray[np.float64]) -> str:
    """A grid of squares, darker for more rows, by the square root: a few large counts would leave the others white."""
    across, down = list(sides[1])[:MOST_SIDE], list(sides[0])[:MOST_SIDE]
    top = float(np.max(table, initial=0.0)) or 1.0
    # Few cells are as wide as their names, which then need not be slanted.
    wide = max(CELL, min(WIDEST, (WIDTH - LABEL) // len(across)))
    longest = min(SLANTED, max(map(len, across)))
    slanted = LETTER * longest > wide
    start, parts = (30 + int(0.87 * LETTER * longest) if slanted else 24), []
    for row, label in enumerate(down):
        y = start + row * CELL
        parts.append(f'<text x="{LABEL - 6}" y="{y + 15}" text-anchor="end">{_short(label)}</text>')
        for column, other in enumerate(across):
            value = max(0.0, float(table[row, column]))
            shade = 0.04 + 0.96 * (value / top) ** 0.5
            parts.append(
                f'<rect x="{LABEL + column * wide}" y="{y}" width="{wide - 1}" height="{CELL - 1}" '
                f'fill-opacity="{shade:.3f}"><title>{_short(label)}, {_short(other)}: {value:,.0f}'
                "</title></rect>"
            )
    for column, label in enumerate(across):
        x, turn = LABEL + column * wide + (wide // 2 + 4 if slanted else 2), " rotate(-60)" if slanted else ""
        parts.append(f'<text transform="translate({x} {start - 6}){turn}">{_short(label, SLANTED)}</text>')
    row, column = (int(place) for place in np.unravel_index(int(np.argmax(table)), table.shape))
    peak = f"{float(table.max()):,.0f} at {sides[0][row]}, {sides[1][column]}"
    alt = f"{title}: {table.size} counts, darker for more; the largest is {peak}."
    if len(across) < table.shape[1] or len(down) < table.shape[0]:
        alt += f" The first {len(down)} by {len(across)} values are drawn."
    width, height = LABEL + len(across) * wide + 60, start + len(down) * CELL + 4
    # Where a phone is narrower than names can be read, the figure scrolls, for which it must be reached by keyboard.
    return _figure(
        f'<div class="heat" tabindex="0"><svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(alt)}">{"".join(parts)}</svg></div>',
        alt,
    )


def _figure(content: str, alt: str) -> str:
    return f"<figure>{content}<figcaption>{escape(alt)}</figcaption></figure>"


def _short(text: str, most: int = 26) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")
