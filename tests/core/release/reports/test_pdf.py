"""The PDF of a release: it opens, says what the page says, and needs no browser."""

from __future__ import annotations

import io

import numpy as np
import pytest
from pypdf import PdfReader

from core.release.release import Release
from core.release.reports.blocks import BarFigure, Facts, Heading, HeatFigure, Paragraph
from core.release.reports.imprint import Imprint
from core.release.reports.pdf import UNWRITTEN, write_pdf
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.release.test_release import LAYOUT, Histogram
from tests.core.samples import SMALL, small_cells

SAID = Imprint(title="People of the town", organisation="Town office", contact="desk@town.example", licence="CC BY 4.0")


def texts(content: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages).split())


@pytest.fixture(scope="module")
def release() -> Release:
    return sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE, LAYOUT)


@pytest.mark.exhaustive
def test_it_says_who_publishes_what_is_promised_and_how_to_use_it(release: Release) -> None:
    content = release.pdf(SAID)
    text = texts(content)
    for part in (
        "Town office",
        "desk@town.example",
        "CC BY 4.0",
        CERTIFICATE.neighbours,
        "epsilon 1",
        CERTIFICATE.plan,
    ):
        assert part in text
    assert "How to use it, and how not" in text and "Expected error" in text
    reader = PdfReader(io.BytesIO(content))
    every = len(reader.pages)
    assert all(f"{place} / {every}" in page.extract_text() for place, page in enumerate(reader.pages, 1))
    assert reader.metadata is not None and reader.metadata.title == "People of the town"
    assert {"What is promised", "How good it is", "Single columns"} <= {
        str(entry["/Title"]) for entry in reader.outline if not isinstance(entry, list)
    }


@pytest.mark.exhaustive
def test_the_same_release_gives_the_same_bytes(release: Release) -> None:
    assert release.pdf(SAID) == release.pdf(SAID)
    assert release.pdf(SAID) != release.pdf()


def test_letters_that_cannot_be_written_are_admitted() -> None:
    western = texts(write_pdf("Größe", [Paragraph("Ärzte − Öl: ε ≥ 1")], "2026-01-01"))
    assert "Größe" in western and "Ärzte - Öl: epsilon >= 1" in western and UNWRITTEN not in western
    other = texts(write_pdf("a", [Heading("Возраст"), Facts([("年", "b")])], "2026-01-01"))
    assert UNWRITTEN in other and "???????" in other


def test_long_lists_break_over_pages() -> None:
    many = [f"value {place}" for place in range(60)]
    blocks = [BarFigure("many", many, np.arange(60.0)) for _ in range(4)]
    content = write_pdf("Many", blocks, "2026-01-01")
    assert len(PdfReader(io.BytesIO(content)).pages) > 2
    assert texts(content).count("The first 40 of 60 values are drawn.") == 4


def test_nothing_counted_and_long_words_are_drawn_too() -> None:
    word = "x" * 400
    blocks = [
        HeatFigure("pair", [["a", word], ["b"]], np.zeros((2, 1))),
        BarFigure("empty", [word], np.zeros(1)),
        Facts([(word, word)]),
        Paragraph(word, strong=True),
    ]
    assert write_pdf(word, blocks, "2026-01-01").startswith(b"%PDF")
