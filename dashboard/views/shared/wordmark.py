"""The publisher's logo: a few letters on a plate, drawn from text, so that no file of somebody else's is served."""

from __future__ import annotations

from html import escape

HEIGHT = 44
WIDEST_LETTER = 21
"""Of bold letters of this size: a plate too wide is better than letters cut off."""
PLATE = "#1f4e79"
"""White on it can be read, and it can be seen on a light and on a dark page."""


def wordmark(letters: str) -> str:
    """
    >>> wordmark("A & B").count("A &amp; B"), wordmark("A & B")[:4]
    (1, '<svg')
    """
    width = WIDEST_LETTER * len(letters) + HEIGHT // 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}">'
        f'<rect width="{width}" height="{HEIGHT}" rx="8" fill="{PLATE}"/>'
        f'<text x="50%" y="50%" dy=".35em" text-anchor="middle" fill="white" font-family="sans-serif" '
        f'font-weight="700" font-size="24">{escape(letters)}</text></svg>'
    )
