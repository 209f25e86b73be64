"""What codes mean, as the remark of a column: its readers know `2` from the label beside it only."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_NOTE = 400


def labelled(label: str, codes: Iterable[tuple[str | int, str]]) -> str:
    """The label of a column and those of its codes, as far as they say more than the codes.

    >>> labelled("Sex", [(1, "male"), (2, "female")]), labelled("", [("male", "male")])
    ('Sex: 1 = male, 2 = female', '')
    """
    meanings = ", ".join(f"{code} = {text}" for code, text in codes if text and text != str(code))
    told = ": ".join(part for part in (label, meanings) if part)
    return told if len(told) <= LONGEST_NOTE else f"{told[: LONGEST_NOTE - 2]} …"
