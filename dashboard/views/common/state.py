"""What outlives a page run: the desk, shared by all, and what one curator has begun."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from core.base.wording import plural
from core.desk.books import LEDGER_FILE
from core.desk.desk import Desk
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.sessions.answer import Answer
from core.sessions.select_answer import SelectAnswer
from dashboard.door import access
from dashboard.views.common.wording import moment
from dashboard.views.data import upload
from dashboard.views.data.draft import Draft

DEMO_FILES = Path(__file__).resolve().parents[3] / "data"
DEMO_NAME = "clinic_visits"
SESSION = "desk-session"
"""Where Streamlit keeps the place of one curator."""


@dataclass
class PlanDraft:
    """A plan from an earlier visit, until it is taken up, declined or overtaken by another."""

    kept: str | None
    first: str | None = None
    """The plan that the page began with in this visit."""
    written: str | None = None


@dataclass
class PageState:
    """One curator's place in the dashboard."""

    draft: Draft = field(default_factory=Draft)
    table: str | None = None
    """The table that Release and Budget speak of."""
    shown: str | None = None
    """The plan whose release is on the page."""
    decided: tuple[str, str] | None = None
    """Table and plan of the decision on the Decide page."""
    added: str | None = None
    """The table that was opened last, for its notes."""
    asking: str | None = None
    """The session on the Ask page."""
    opening: tuple[str, str] | None = None
    """Table and plan of a session that is paid and being opened."""
    answered: tuple[str, Answer | SelectAnswer] | None = None
    """The last answer, with its session."""
    token: tuple[str, str] | None = None
    """A session and the token for programs that was just made, shown once."""
    asked: int = 0
    """Questions asked of shared sessions in this visit."""
    taken: dict[str, int] = field(default_factory=dict)
    """Hard answers that this visit took, by session."""
    tour: int | None = None
    """The step of the guided tour, where one is under way."""
    problem: str | None = None
    """A sentence from a button's callback, shown once."""
    planned: dict[str, ReleaseTerms] = field(default_factory=dict)
    """The plan under work of each table: the Plan page writes it, the Release page reads it."""
    typed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the fields held when that plan was made."""
    plan_drafts: dict[str, PlanDraft] = field(default_factory=dict)
    """The plan of each table that was kept from an earlier visit."""
    found: dict[Any, Any] = field(default_factory=dict)
    """What was found beside the Plan page, by choice, each with how often the figures had been refined by then. Nothing
    in it depends on the rows."""
    trying: dict[str, tuple[Any, Future[Any]]] = field(default_factory=dict)
    """What is being found: for which choice, and that work."""
    awaited: list[Any] = field(default_factory=list)
    """What runs beside the page and is watched until it has ended."""
    refined: int = 0
    """How often the figures have become better."""
    refining: tuple[Any, str] | None = None
    """What the figures are being refined for, and the id of that work."""
    rehearsals: list[Any] = field(default_factory=list)
    """Rehearsals that were asked for, newest last; all of them ran on public rows."""


def session() -> PageState:
    if SESSION not in st.session_state:
        st.session_state[SESSION] = PageState()
    return st.session_state[SESSION]


def desk() -> Desk:
    """The desk: one for all visitors, or one per visitor in demo mode so that nobody spends another's budget."""
    return _throw_away() if access.demo() else _shared()


@st.cache_resource(show_spinner="Opening the workspace …")
def _shared() -> Desk:
    opened = Desk(worker=access.worker())
    if not access.visitors_only():
        # Beside a server for visitors stands the curator's own: work that waits is finished there, once.
        upload.sweep(opened.folder)
        opened.drafts.sweep()
        opened.keep_resuming()
    return opened


def _discard(opened: Desk) -> None:
    opened.close()
    shutil.rmtree(opened.folder, ignore_errors=True)


@st.cache_resource(scope="session", on_release=_discard, show_spinner="Preparing a workspace …")
def _throw_away() -> Desk:
    folder = Path(tempfile.mkdtemp(prefix="release-desk-demo-"))
    return Desk(folder, journal=folder / "journal", ledger=folder.resolve() / LEDGER_FILE)


def demo_file(name: str = DEMO_NAME) -> Path | None:
    """A demo table, where this is a checkout that has it."""
    return next((path for path in sorted(DEMO_FILES.glob(f"{name}.*")) if path.suffix in upload.SUFFIXES), None)


def demo_schema(name: str = DEMO_NAME) -> str:
    return (DEMO_FILES / f"{name}.schema.json").read_text(encoding="utf-8")


def choose_table(tables: list[DeskTable]) -> DeskTable:
    """The table a page is about, chosen once for all pages."""
    here = session()
    by_id = {table.id: table for table in tables}
    labels = table_labels(tables)
    chosen = st.selectbox(
        "Table",
        list(by_id),
        index=list(by_id).index(here.table) if here.table in by_id else 0,
        format_func=labels.__getitem__,
        help="Names, columns and dates are public; nothing here is computed from the rows.",
    )
    if chosen != here.table:
        here.table, here.shown = chosen, None
    return by_id[chosen]


def table_labels(tables: list[DeskTable]) -> dict[str, str]:
    """What tables are called in a list, by id, each by another text: a browser tells them apart by nothing else, and a
    table that was opened again with a corrected schema within the minute must not be taken for the first."""
    labels: dict[str, str] = {}
    for table in tables:
        label, often = table_label(table), 2
        while label in labels.values():
            label, often = f"{table_label(table)} · {often}", often + 1
        labels[table.id] = label
    return labels


def table_label(table: DeskTable) -> str:
    """The day stands first of what tells tables apart: a phone cuts the rest off."""
    return f"{table.name} · {moment(table.added).removesuffix(' UTC')} · {plural(len(table.domain), 'column')}"
