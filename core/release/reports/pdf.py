"""A report as a PDF, written by fpdf2: pure Python, no browser and no other program.

fpdf2 is small, well kept and brings what a report needs (wrapped text, page breaks, an outline, a language); writing
PDF by hand would mean tables of letter widths of our own. Its built-in fonts know the letters of Western Europe only;
other letters become question marks, and the last page then says so and points to the HTML report, which has them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from core.base.arrays import Floats
from core.release.reports.blocks import BarFigure, Facts, Heading, HeatFigure, Paragraph, ReportBlock, Sentences
from core.release.reports.drawing import MOST_BARS, MOST_SIDE

if TYPE_CHECKING:
    from fpdf import FPDF

WIDTH, MARGIN = 178.0, 16.0
"""Millimetres of text on a page of 210, and beside it."""
BAR, LABEL, CELL = 4.6, 52.0, 6.0
SLANTED, WIDEST = 24.0, 24.0
"""The longest slanted name above a grid, and the widest of its cells."""
LINE = 5.0
INK, COLOUR, GREY = (22, 32, 42), (31, 95, 139), (154, 167, 180)
UNWRITTEN = (
    "Some letters of names or labels are not in the fonts of this file and stand as question marks; the HTML report "
    "has them all."
)
SAME = str.maketrans({"−": "-", "→": "->", "≤": "<=", "≥": ">=", "ε": "epsilon", "δ": "delta"})


def write_pdf(title: str, blocks: Iterable[ReportBlock], created: str) -> bytes:
    """The bytes of a PDF; the same blocks of the same day give the same bytes. `created` is a day as 2024-12-31."""
    # Imported here: nothing but a report needs it, and it takes a tenth of a second.
    from fpdf import FPDF

    class Numbered(FPDF):
        """Each page tells its place among all, so that a printed one is not missed."""

        def footer(self) -> None:
            self.set_y(4 - MARGIN)
            self.set_font("Helvetica", size=8)
            self.cell(WIDTH, LINE, f"{_fitted(self, title, WIDTH - 30)}   {self.page_no()} / {{nb}}", align="R")

    pdf = Numbered(format="A4")
    pdf.set_margins(MARGIN, MARGIN)
    pdf.set_auto_page_break(auto=True, margin=MARGIN)
    pdf.set_lang("en")
    pdf.set_title(_letters(title))
    pdf.set_creation_date(datetime.fromisoformat(created).replace(tzinfo=UTC))
    pdf.add_page()
    pdf.set_text_color(*INK)
    _text(pdf, title, 20, bold=True)
    pdf.ln(2)
    unwritten = _letters(title) != title.translate(SAME)
    every = list(blocks)
    for place, block in enumerate(every):
        unwritten |= any(_letters(text) != text.translate(SAME) for text in _texts(block))
        if isinstance(block, Heading) and pdf.will_page_break(_room(every[place:])):
            # A heading stays with what follows it.
            pdf.add_page()
        _write(pdf, block)
    if unwritten:
        pdf.ln(4)
        _text(pdf, UNWRITTEN, 9)
    return bytes(pdf.output())


def _room(blocks: Sequence[ReportBlock]) -> float:
    """Millimetres that headings need together with what follows them: a figure as a whole, the beginning of a text."""
    after = next((block for block in blocks if not isinstance(block, Heading)), None)
    headings = 12.0 * next((place for place, block in enumerate(blocks) if block is after), 0)
    match after:
        case HeatFigure(_, sides):
            return headings + SLANTED + 8 + CELL * min(len(sides[0]), MOST_SIDE)
        case BarFigure(_, labels):
            return headings + 8 + BAR * min(len(labels), MOST_BARS)
        case _:
            return headings + 18


def _write(pdf: FPDF, block: ReportBlock) -> None:
    match block:
        case Heading(text, level):
            pdf.ln(5 if level == 2 else 3)
            pdf.start_section(_letters(text), level=level - 2)
            _text(pdf, text, 14 if level == 2 else 11, bold=True)
            pdf.ln(1)
        case Paragraph(text, strong):
            _text(pdf, text, 10, bold=strong)
            pdf.ln(1.5)
        case Sentences(lines):
            for line in lines:
                _text(pdf, f"- {line}", 10)
            pdf.ln(1.5)
        case Facts(lines):
            for name, value in lines:
                _fact(pdf, name, value)
            pdf.ln(1.5)
        case BarFigure(_, labels, values):
            _bars(pdf, labels, values)
        case HeatFigure(_, sides, table):
            _heat(pdf, sides, table)


def _text(pdf: FPDF, text: str, size: float, *, bold: bool = False) -> None:
    pdf.set_font("Helvetica", style="B" if bold else "", size=size)
    pdf.multi_cell(WIDTH, size * 0.5, _letters(text), align="L", new_x="LMARGIN", new_y="NEXT")


def _fact(pdf: FPDF, name: str, value: str) -> None:
    pdf.set_font("Helvetica", size=10)
    height = max(_height(pdf, name, LABEL - 2), _height(pdf, value, WIDTH - LABEL))
    if pdf.will_page_break(min(height, 200)):
        pdf.add_page()
    top = pdf.get_y()
    pdf.set_font("Helvetica", style="B", size=10)
    pdf.multi_cell(LABEL - 2, LINE, _letters(name), align="L", new_x="LMARGIN", new_y="NEXT")
    below = pdf.get_y()
    pdf.set_xy(MARGIN + LABEL, top)
    pdf.set_font("Helvetica", size=10)
    pdf.multi_cell(WIDTH - LABEL, LINE, _letters(value), align="L", new_x="LMARGIN", new_y="NEXT")
    pdf.set_y(max(below, pdf.get_y()) + 0.8)


def _height(pdf: FPDF, text: str, width: float) -> float:
    lines = pdf.multi_cell(width, LINE, _letters(text), dry_run=True, output="LINES")
    return LINE * len(lines) if isinstance(lines, list) else LINE


def _bars(pdf: FPDF, labels: Sequence[str], values: Floats) -> None:
    """Horizontal bars, one per value; a long list is cut and says so."""
    shown, top = min(len(labels), MOST_BARS), float(np.max(values, initial=0.0)) or 1.0
    for place in range(shown):
        if pdf.will_page_break(BAR):
            pdf.add_page()
        y, value = pdf.get_y(), float(values[place])
        pdf.set_font("Helvetica", size=8)
        pdf.set_xy(MARGIN, y)
        pdf.cell(LABEL - 2, BAR, _fitted(pdf, labels[place], LABEL - 3), align="R")
        pdf.set_fill_color(*COLOUR)
        length = max(0.0, value) / top * (WIDTH - LABEL - 24)
        if length:
            pdf.rect(MARGIN + LABEL, y + 0.7, length, BAR - 1.4, style="F")
        pdf.set_xy(MARGIN + LABEL + length + 1, y)
        pdf.cell(22, BAR, f"{value:,.0f}")
        pdf.set_xy(MARGIN, y + BAR)
    _text(pdf, _cut("rows", shown, len(labels)), 8)


def _heat(pdf: FPDF, sides: Sequence[Sequence[str]], table: Floats) -> None:
    """A grid of squares, darker for more rows by the square root of the counts."""
    down, across = list(sides[0])[:MOST_SIDE], list(sides[1])[:MOST_SIDE]
    top = float(np.max(table, initial=0.0)) or 1.0
    if pdf.will_page_break(CELL * len(down) + SLANTED + 6):
        pdf.add_page()
    pdf.set_font("Helvetica", size=7)
    # Few cells are as wide as their names, which then need not be slanted.
    wide = max(CELL, min(WIDEST, (WIDTH - LABEL) / len(across)))
    longest = max(pdf.get_string_width(_letters(label)) for label in across)
    slanted = longest > wide - 1
    start = pdf.get_y() + (min(SLANTED, 0.87 * longest + 4) if slanted else 5)
    for column, label in enumerate(across):
        x = MARGIN + LABEL + column * wide + (wide / 2 if slanted else 0.5)
        with pdf.rotation(60 if slanted else 0, x, start - 1):
            pdf.text(x, start - 1, _fitted(pdf, label, SLANTED))
    for row, label in enumerate(down):
        y = start + row * CELL
        pdf.set_xy(MARGIN, y)
        pdf.cell(LABEL - 2, CELL, _fitted(pdf, label, LABEL - 3), align="R")
        for column in range(len(across)):
            share = (max(0.0, float(table[row, column])) / top) ** 0.5
            pdf.set_fill_color(*(round(255 - share * (255 - part)) for part in COLOUR))
            pdf.rect(MARGIN + LABEL + column * wide, y, wide - 0.3, CELL - 0.3, style="F")
    pdf.set_xy(MARGIN, start + CELL * len(down) + 1)
    _text(pdf, f"Darker for more rows; the largest count is {top:,.0f}.", 8)


def _cut(unit: str, shown: int, known: int) -> str:
    return f"In {unit}." + (f" The first {shown} of {known:,} values are drawn." if shown < known else "")


def _fitted(pdf: FPDF, text: str, width: float) -> str:
    """A label cut to so many millimetres."""
    written = _letters(text)
    while written and pdf.get_string_width(written) > width:
        written = written[:-2] + "." if len(written) > 2 else ""
    return written


def _letters(text: str) -> str:
    """What the fonts of a PDF can write: Western letters; others become question marks."""
    return text.translate(SAME).encode("cp1252", "replace").decode("cp1252")


def _texts(block: ReportBlock) -> list[str]:
    match block:
        case Heading(text) | Paragraph(text):
            return [text]
        case Sentences(lines):
            return list(lines)
        case Facts(lines):
            return [part for line in lines for part in line]
        case BarFigure(_, labels):
            return list(labels)
        case HeatFigure(_, sides):
            return [label for side in sides for label in side]
