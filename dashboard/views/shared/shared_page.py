"""What is shared: releases and decisions with certificate, figures and files, and sessions open to everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import shorten

import pandas as pd
import streamlit as st

from core.base.odds import odds
from core.base.wording import amount, plural
from core.desk.desk import Desk
from core.desk.kept.publisher import citation, imprint
from core.desk.kept.shared import SharedItem
from core.release.files.catalogue import promise
from core.release.release import Release
from core.sessions.asked_release import AskedRelease
from core.sessions.session_limits import MOST_OF_A_VISIT
from dashboard.door import access
from dashboard.views.ask import ask_history, ask_question
from dashboard.views.common import answers_view, downloads, measured_view, messages, released_chart, state
from dashboard.views.decide import decision_view
from dashboard.views.release import records_view, size_warning
from dashboard.views.shared import publisher_form
from dashboard.views.shared.link import LINK, public_link

CARDS = 3
DAY = len("2026-01-01")
LONGEST_TEASER = 140
KINDS = {"release": "Data and tables", "session": "Questions and answers", "decision": "A decision"}
SYNTHETIC = (
    "Synthetic records are drawn from noisy counts of a private table: together they are much like its rows, and none "
    "of them belongs to a person."
)


def show(here: state.PageState, desk: Desk) -> None:
    publisher_form.show(desk.publisher.read())
    items = {item.id: item for item in desk.shared_items.items()}
    if not items:
        way = " Open a release on the page Release and press Share." if access.role() == "curator" else ""
        st.info(f"Nothing is shared yet.{way}", icon=":material/public:")
        return
    named = st.query_params.get(LINK, "")
    item = items.get(named) if named or len(items) > 1 else next(iter(items.values()))
    if item is None:
        if named:
            st.info("What this link led to is not shared any more.", icon=":material/link_off:")
        _cards(items)
        return
    if len(items) > 1:
        st.button(f"All {amount(len(items))} that are published", icon=":material/arrow_back:", on_click=_close)
    st.query_params[LINK] = item.id
    st.header(messages.plain(item.title), divider="gray")
    if item.note:
        st.write(messages.plain(item.note))
    with messages.guarded():
        if item.kind == "session":
            _session(here, desk, item)
        elif item.kind == "decision":
            _decision(desk, item)
        else:
            _release(here, desk, item)


def _cards(items: Mapping[str, SharedItem]) -> None:
    """One card each, newest first, in rows of equal height."""
    shown = list(items.values())
    for start in range(0, len(shown), CARDS):
        for place, item in zip(st.columns(CARDS), shown[start : start + CARDS], strict=False):
            with place.container(border=True, height="stretch"):
                st.markdown(f"**{messages.plain(item.title)}**")
                st.caption(f"{KINDS[item.kind]} · {item.since[:DAY]}")
                if item.note:
                    st.caption(messages.plain(shorten(item.note, LONGEST_TEASER, placeholder=" …")))
                st.button("Open", type="primary", key=f"open-{item.id}", on_click=_open, args=(item.id,))


def _open(identity: str) -> None:
    """The address of the page names what is open, so that it can be passed on."""
    st.query_params[LINK] = identity


def _close() -> None:
    del st.query_params[LINK]


@dataclass(frozen=True, eq=False)
class Opened:
    """A shared release, read once for everybody."""

    release: Release
    preview: pd.DataFrame
    asked: AskedRelease


@st.cache_resource(max_entries=8, show_spinner="Opening the release …")
def _opened(plan_id: str, _desk: Desk) -> Opened | None:
    # The bytes of a plan never change, and everything in them is public.
    release, entry = _desk.result(plan_id), _desk.ledger.entry(plan_id)
    if release is None or entry is None:
        return None
    return Opened(release, records_view.preview(release), AskedRelease(entry=entry, release=release))


def _release(here: state.PageState, desk: Desk, item: SharedItem) -> None:
    opened = _opened(item.id, desk)
    if opened is None:
        st.error("This release is not at the desk any more.", icon=":material/error:")
        return
    release, publisher = opened.release, desk.publisher.read()
    certificate = release.certificate
    size = f"{amount(certificate.synthetic_rows)} synthetic records with {plural(len(release.domain), 'column')}"
    st.markdown(f"**{size}, published on {item.since[:DAY]}.** {SYNTHETIC}")
    messages.note(messages.plain(promise(certificate)), "released")
    messages.note(odds(certificate.epsilon, certificate.delta), "public")
    size_warning.after(release)
    measured_view.show(release)
    address = public_link(item.id)
    downloads.show(release, item.title, imprint(item, publisher, address))
    st.markdown("**How to cite**")
    st.code(citation(item, certificate, publisher, address), language=None, wrap_lines=True)
    with st.expander("Certificate", icon=":material/verified:"):
        st.json(certificate.facts())
        messages.note("Everything in the certificate is part of the release.", "released")
    st.subheader("Synthetic records", divider="gray")
    records_view.show(release, opened.preview)
    answers_view.show(release, f"shared-{item.id}")
    st.subheader("Counts", divider="gray")
    released_chart.show(release, f"shared-{item.id}")
    if opened.asked.answers_questions:
        st.subheader("Ask it a question", divider="gray")
        _room(here)
        ask_question.of_release(here, opened.asked, MOST_OF_A_VISIT)


def _room(here: state.PageState) -> None:
    messages.note(
        f"A visit has room for {amount(MOST_OF_A_VISIT)} questions; {amount(here.asked)} asked so far.", "public"
    )


def _decision(desk: Desk, item: SharedItem) -> None:
    stored = desk.decision(item.id)
    if stored is None:
        st.error("This decision is not at the desk any more.", icon=":material/error:")
        return
    decision_view.show(stored, item.title)


def _session(here: state.PageState, desk: Desk, item: SharedItem) -> None:
    session = desk.session(item.id)
    guest = ask_question.Guest(most=MOST_OF_A_VISIT, hard=item.hard, kept=item.kept)
    if session.status != "closed":
        st.write("Anybody may ask, and every answer may be published.")
        _room(here)
        if not guest.visit(here, session).may_measure():
            rest = "answers come from what is public, and none promises its error"
            if session.measures_all():
                rest = "this session measures every question, so only what was asked before is answered"
            messages.note(f"Nothing is measured for {'you any more' if item.hard else 'visitors'}: {rest}.", "public")
    ask_question.show(here, session, guest)
    ask_history.show(session, "visitor")
