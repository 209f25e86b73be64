"""What is shared: releases with their certificate, figures and files, and sessions that are open to everybody."""

from __future__ import annotations

import streamlit as st

from core.base.odds import odds
from core.base.wording import amount, plural
from core.desk.desk import Desk
from core.desk.shared import SharedItem
from core.release.catalogue import promise
from core.release.release import Release
from dashboard.views.ask import ask_history, ask_question
from dashboard.views.common import answers_view, downloads, messages, released_chart, state
from dashboard.views.common.wording import moment


def show(here: state.PageState, desk: Desk) -> None:
    items = desk.shared_items.items()
    if not items:
        st.info("Nothing is shared yet.", icon=":material/public:")
        return
    names = {item.id: item for item in items}
    linked = st.query_params.get("item")
    chosen = st.selectbox(
        "Shared items",
        list(names),
        index=list(names).index(linked) if linked in names else 0,
        format_func=lambda identity: _line(names[identity]),
        key="shared-item",
    )
    st.query_params["item"] = chosen
    item = names[chosen]
    st.header(messages.plain(item.title), divider="gray")
    if item.note:
        st.write(messages.plain(item.note))
    with messages.guarded():
        if item.kind == "session":
            _session(here, desk, item)
        else:
            _release(desk, item)


def _line(item: SharedItem) -> str:
    return f"{item.title} · {item.kind} · since {moment(item.since)}"


@st.cache_resource(max_entries=8, show_spinner="Opening the release …")
def _opened(plan_id: str, _desk: Desk) -> Release | None:
    # The bytes of a plan never change, and everything in them is public.
    return _desk.result(plan_id)


def _release(desk: Desk, item: SharedItem) -> None:
    release = _opened(item.id, desk)
    if release is None:
        st.error("This release is not at the desk any more.", icon=":material/error:")
        return
    certificate = release.certificate
    messages.note(messages.plain(promise(certificate)), "released")
    messages.note(odds(certificate.epsilon), "public")
    downloads.show(release, item.title)
    with st.expander("Certificate", icon=":material/verified:"):
        st.json(certificate.model_dump())
        messages.note("Everything in the certificate is part of the release.", "released")
    records, columns = amount(certificate.synthetic_rows), plural(len(release.domain), "column")
    messages.note(f"{records} synthetic records in {columns}; no line belongs to a person.", "released")
    answers_view.show(release, f"shared-{item.id}")
    st.subheader("Counts", divider="gray")
    released_chart.show(release, f"shared-{item.id}")


def _session(here: state.PageState, desk: Desk, item: SharedItem) -> None:
    session = desk.session(item.id)
    st.write("Anybody may ask. Every answer is released, and so is the list of all questions.")
    ask_question.show(here, session)
    ask_history.show(session, "visitor")
