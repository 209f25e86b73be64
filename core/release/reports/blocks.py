"""What a report is made of, apart from how it is written: one list of blocks becomes a page or a PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.base.arrays import Floats


@dataclass(frozen=True)
class Heading:
    text: str
    level: Literal[2, 3] = 2


@dataclass(frozen=True)
class Paragraph:
    text: str
    strong: bool = False


@dataclass(frozen=True)
class Sentences:
    """A list of sentences."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for, one per line."""

    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class BarFigure:
    title: str
    labels: Sequence[str]
    values: Floats


@dataclass(frozen=True, eq=False)
class HeatFigure:
    title: str
    sides: Sequence[Sequence[str]]
    table: Floats


ReportBlock = Heading | Paragraph | Sentences | Facts | BarFigure | HeatFigure
