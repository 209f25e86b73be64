import re
from html.parser import HTMLParser

import numpy as np

from core.release.copies.combining import LIMIT
from core.release.reports.imprint import Imprint
from core.release.reports.page import report
from core.schema.domain import Categories, Domain, Integers
from core.schema.guesses import BY_NAME
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.release.test_release import LAYOUT, Histogram
from tests.core.samples import SMALL, small_cells


def page(domain=SMALL, tables=(("colour", "size"),)):
    cells = small_cells(900)

    def marginal(columns):
        dropped = tuple(axis for axis, name in enumerate(domain.names) if name not in columns)
        return cells.sum(axis=dropped).astype(float)

    return report(CERTIFICATE, domain, marginal, list(tables))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))


def test_it_loads_nothing_and_runs_nothing():
    tags = Tags()
    tags.feed(page())
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in tags.seen}
    assert not any({"src", "href", "onload", "style"} & set(attributes) for _, attributes in tags.seen)
    assert "url(" not in page()


def test_every_column_and_the_released_pair_are_drawn_with_a_text():
    text = page()
    assert (text.count('class="bars"'), text.count('class="heat"')) == (len(SMALL.names), 1)
    assert len(re.findall(r'aria-label="[^"]+"', text)) == len(SMALL.names) + 1
    assert "colour by size" in text


def test_it_says_what_is_promised():
    text = page()
    for fact in (CERTIFICATE.neighbours, CERTIFICATE.plan, f"epsilon {CERTIFICATE.epsilon:g}", "95 %"):
        assert fact in text


def test_texts_of_the_schema_are_escaped():
    nasty = Domain((Categories(name="<b>&", values=("<i>", "x"), note="<u>"),))
    text = report(CERTIFICATE.model_copy(update={"queries": []}), nasty, lambda columns: np.ones(2), [])
    assert not re.search("<(b|i|u)>", text)


def test_a_release_carries_its_report():
    release = sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE, LAYOUT)
    assert release.report().startswith(b"<!doctype html>")
    assert f"{small_cells(900).sum(axis=(0, 2))[0]:,}".encode() in release.report()


def test_it_prints_well_and_names_who_publishes():
    said = Imprint(title="People <of> the town", organisation="Town office", contact="x@town.example", licence="CC BY")
    release = sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE, LAYOUT)
    text = release.report(said).decode()
    assert "<title>People &lt;of&gt; the town</title>" in text
    assert all(part in text for part in ("Town office", "x@town.example", "CC BY", "How to cite", "and how not"))
    assert "@media print" in text and "break-inside: avoid" in text and "@page" in text
    assert "Town office" not in release.report().decode(), "what was sealed stays as it was"


def test_long_columns_are_drawn_whole_and_readers_are_not_asked_to_check():
    long = Domain((Integers(name="age", low=0, high=120, note=BY_NAME),))
    counts = np.zeros(121)
    counts[100] = 7.0
    text = report(
        CERTIFICATE.model_copy(update={"queries": []}), long, lambda columns: counts if columns else counts.sum(), []
    )
    assert "the largest is 7 at 100 to 104" in text and "Each bar is 5 neighbouring cells of the schema" in text
    assert "Suggested by its name" in text and "check it" not in text


def test_copies_come_with_what_their_intervals_do_not_hold():
    text = report(
        CERTIFICATE.model_copy(update={"copies": 3}), SMALL, lambda columns: np.ones(SMALL.shape(columns)), []
    )
    assert LIMIT in text and LIMIT not in page()
