"""What outlives a page run: the desk, shared by all, and what one curator has begun."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from core.desk.desk import Desk
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.sessions.answer import Answer
from dashboard.views.common import access
from dashboard.views.common.wording import moment
from dashboard.views.data import upload
from dashboard.views.data.draft import Draft

DEMO_FILES = Path(__file__).resolve().parents[3] / "data"
DEMO_NAME = "clinic_visits"


@dataclass
class PageState:
    """One curator's place in the dashboard."""

    draft: Draft = field(default_factory=Draft)
    table: str | None = None
    """The table that Release and Budget speak of."""
    shown: str | None = None
    """The plan whose release is on the page."""
    added: str | None = None
    """The table that was opened last, for its notes."""
    asking: str | None = None
    """The session on the Ask page."""
    opening: tuple[str, str] | None = None
    """Table and plan of a session that is paid and being opened."""
    answered: tuple[str, Answer] | None = None
    """The last answer, with its session."""
    problem: str | None = None
    """A sentence from a button's callback, shown once."""
    offers: dict[Any, Any] = field(default_factory=dict)
    """Priced mechanisms by table, queries and what is wanted: nothing in them depends on the rows."""
    planned: dict[str, ReleaseTerms] = field(default_factory=dict)
    """The plan under work of each table: the Plan page writes it, the Release page reads it."""
    curves: dict[Any, Any] = field(default_factory=dict)
    """Expected errors by epsilon, as remembered as prices are."""
    rehearsals: list[Any] = field(default_factory=list)
    """Rehearsals that were asked for, newest last; all of them ran on public rows."""


def session() -> PageState:
    if "desk-session" not in st.session_state:
        st.session_state["desk-session"] = PageState()
    return st.session_state["desk-session"]


def desk() -> Desk:
    """The desk: one for all visitors, or one per visitor in demo mode so that nobody spends another's budget."""
    return _throw_away() if access.demo() else _shared()


@st.cache_resource(show_spinner="Opening the workspace …")
def _shared() -> Desk:
    opened = Desk()
    if not access.visitors_only():
        # Beside a server for visitors stands the curator's own: work that waits is finished there, once.
        upload.sweep(opened.folder)
        opened.resume()
    return opened


def _discard(opened: Desk) -> None:
    opened.close()
    shutil.rmtree(opened.folder, ignore_errors=True)


@st.cache_resource(scope="session", on_release=_discard, show_spinner="Preparing a workspace …")
def _throw_away() -> Desk:
    return Desk(tempfile.mkdtemp(prefix="release-desk-demo-"))


def demo_file() -> Path | None:
    """The demo table, where this is a checkout that has it."""
    return next((path for path in sorted(DEMO_FILES.glob(f"{DEMO_NAME}.*")) if path.suffix in upload.SUFFIXES), None)


def demo_schema() -> str:
    return (DEMO_FILES / f"{DEMO_NAME}.schema.json").read_text(encoding="utf-8")


def choose_table(tables: list[DeskTable]) -> DeskTable:
    """The table a page is about, chosen once for all pages."""
    here = session()
    by_id = {table.id: table for table in tables}
    chosen = st.selectbox(
        "Table",
        list(by_id),
        index=list(by_id).index(here.table) if here.table in by_id else 0,
        format_func=lambda identity: table_label(by_id[identity]),
        help="Names, columns and dates are public; nothing here is computed from the rows.",
    )
    if chosen != here.table:
        here.table, here.shown = chosen, None
    return by_id[chosen]


def table_label(table: DeskTable) -> str:
    return f"{table.name} · {len(table.domain)} columns · added {moment(table.added)}"
