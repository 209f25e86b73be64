"""A release that is paid for: its progress, then its files, a preview and a chart, all from the stored bytes."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.desk.desk import Desk
from core.desk.kept.publisher import imprint
from core.ledger.ledger import Entry
from core.plans.statements import DeskTable
from core.release.release import Release
from core.release.reports.imprint import Imprint
from dashboard.views.budget import spend_list
from dashboard.views.common import answers_view, downloads, label_form, measured_view, messages, released_chart
from dashboard.views.common.state import PageState
from dashboard.views.release import records_view, remaining_time, share_form, size_warning

LINK = "release"
LOOK = 0.3
"""Seconds between two looks at a run. With a second, what is told to take less than one was seen later than that."""


@dataclass(frozen=True, eq=False)
class Finished:
    """A stored release, read once."""

    release: Release
    preview: pd.DataFrame


def open_release(here: PageState, plan_id: str) -> None:
    here.shown = plan_id


def follow_link(here: PageState, desk: Desk) -> None:
    """The address names the release on the page, so that a reload or a second tab finds it again."""
    if here.shown is None and (linked := st.query_params.get(LINK)):
        entry = desk.ledger.entry(linked)
        if entry is not None:
            here.table, here.shown = entry.dataset_id, entry.plan_id


def name_link(here: PageState) -> None:
    """Put the release on the page into the address, or take it out."""
    if here.shown is not None:
        st.query_params[LINK] = here.shown
    elif LINK in st.query_params:
        del st.query_params[LINK]


def called(desk: Desk, entry: Entry, table: DeskTable) -> str:
    """A release in one line, after the name that the curator gave it."""
    name = desk.labels.of(entry.plan_id).name
    return f"{name} · {spend_list.line(entry, table)}" if name else spend_list.line(entry, table)


def show(here: PageState, desk: Desk, table: DeskTable) -> None:
    plan_id = here.shown or ""
    if st.button("Plan another release", icon=":material/arrow_back:"):
        here.shown = None
        st.switch_page("steps/plan.py")
    entry = next((entry for entry in desk.statement(table).entries if entry.plan_id == plan_id), None)
    if entry is None:
        st.error("This desk holds no such release.", icon=":material/error:")
        return
    with st.container():
        # A place of its own: a first name closes nothing that is open further down.
        if name := desk.labels.of(plan_id).name:
            st.markdown(f"{messages.mark('curator only')} **{messages.plain(name)}**")
    st.markdown(f"{messages.mark('public')} **{messages.plain(spend_list.line(entry, table))}**")
    progress = desk.progress(plan_id)
    if progress.state == "running":
        watch(desk, plan_id)
    elif progress.state == "stopped":
        unfinished(desk, plan_id, progress.note)
    elif progress.state == "ended":
        st.error(messages.plain(progress.note), icon=":material/error:")
    else:
        _finished_page(desk, table, plan_id)


@st.fragment(run_every=LOOK)
def watch(desk: Desk, plan_id: str) -> None:
    """Look again and again; the work itself runs at the desk and needs no page."""
    with messages.guarded():
        progress = desk.progress(plan_id)
        if progress.state != "running":
            st.rerun()
        st.progress(min(max(progress.share, 0.0), 1.0), text=f"{progress.stage} …")
        if left := remaining_time.sentence(desk, plan_id, progress):
            # How long a run takes depends on the rows.
            messages.note(left, "curator only")
        st.write("It is paid for and runs on its own. You may reload, close this page or come back later.")


def unfinished(desk: Desk, plan_id: str, why: str | None) -> None:
    """A paid plan without a result: one button, no second payment."""
    st.warning(f"{messages.plain(why or 'The run was interrupted.')} It is paid for.", icon=":material/pause_circle:")
    st.button("Finish it (already paid)", type="primary", key=f"finish-{plan_id}", on_click=_finish, args=(desk,))


def _finish(desk: Desk) -> None:
    try:
        desk.resume()
    except Exception as problem:
        st.toast(messages.sentence(problem))


@st.cache_resource(max_entries=4, show_spinner="Opening the stored release …")
def _finished(plan_id: str, _desk: Desk) -> Finished | None:
    # The bytes of a plan never change and its id is a secret of its workspace, so they may be kept under it.
    release = _desk.result(plan_id)
    return None if release is None else Finished(release, records_view.preview(release))


def _finished_page(desk: Desk, table: DeskTable, plan_id: str) -> None:
    finished = _finished(plan_id, desk)
    if finished is None:
        st.error("The stored release cannot be found.", icon=":material/error:")
        return
    release = finished.release
    st.success("Released, stored and paid. Opening it again costs nothing.", icon=":material/check_circle:")
    size_warning.after(release)
    said = imprint(desk.shared_items.find(plan_id), desk.publisher.read())
    downloads.show(release, table.name, None if said == Imprint() else said)
    with st.container(horizontal=True):
        share_form.show(desk, plan_id, table.name)
        label_form.show(desk, plan_id, desk.labels.of(plan_id).name, "release")
    messages.note(spend_list.left(desk.statement(table)), "public")

    st.header("How good it is", divider="gray")
    measured_view.show(release)

    st.header("Synthetic records", divider="gray")
    records_view.show(release, finished.preview)
    answers_view.show(release, plan_id)
    st.header("Counts", divider="gray")
    released_chart.show(release, plan_id)
