"""Sharing a release or a session with everybody, and taking it down."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from core.desk.kept.shared import SharedItem
from core.sessions.session import Session
from dashboard.views.common import messages
from dashboard.views.shared.link import LINK, link, public_link


def show(desk: Desk, identity: str, suggestion: str, session: Session | None = None) -> None:
    """A popover beside whatever can be shared; of a session the curator says what visitors may take."""
    shared = desk.shared_items.find(identity)
    with st.popover("Shared" if shared else "Share", icon=":material/public:"):
        st.write(
            "Visitors find it on the page 'Shared'. It is public by its promise; title and note are public too."
            if shared is None
            else "It is on the page 'Shared'. Taking it down does not call back what was downloaded."
        )
        title = st.text_input("Title", shared.title if shared else suggestion, key=f"share-title-{identity}")
        note = st.text_area("Note for visitors", shared.note if shared else "", key=f"share-note-{identity}")
        hard, kept = (0, 0) if session is None else _hard_answers(session, shared)
        if st.button("Change" if shared else "Share it", type="primary", key=f"share-{identity}"):
            with messages.guarded():
                desk.share(identity, title=title, note=note, hard=hard, kept=kept)
                st.rerun()
        if shared is not None:
            _link(identity)
            st.button("Take it down", on_click=desk.shared_items.take_down, args=(identity,), key=f"unshare-{identity}")


def _link(identity: str) -> None:
    st.page_link(
        "steps/shared.py", label="Open it as visitors do", icon=":material/open_in_new:", query_params={LINK: identity}
    )
    if address := link(identity):
        st.caption("The link to it, to be passed on:")
        st.code(address, language=None, wrap_lines=True)
        if not public_link(identity):
            st.caption("It leads to this machine only; others need the name under which it is served to them.")


def _hard_answers(session: Session, shared: SharedItem | None) -> tuple[int, int]:
    """Hard answers that a visit may take, and that all visits leave; a session without a limit has enough for all."""
    left = session.summary().left
    if left is None:
        return 0, 0
    hard = st.number_input(
        "Hard answers that a visit may take",
        0,
        value=shared.hard if shared else 0,
        help="0: visitors are answered from what is public already, and nothing is measured for them.",
        key=f"share-hard-{session.id}",
    )
    if not hard:
        return 0, 0
    kept = st.number_input(
        "Hard answers that visitors leave to you",
        0,
        # Where visitors took none so far, nothing was said about this.
        value=shared.kept if shared and shared.hard else (left + 1) // 2,
        help="Whoever reloads the page is a new visit; where no more than this are left, none is taken by visitors.",
        key=f"share-kept-{session.id}",
    )
    return int(hard), int(kept)
