"""Sharing a release or a session with everybody, and taking it down."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from dashboard.views.common import messages


def show(desk: Desk, identity: str, suggestion: str) -> None:
    """A popover beside whatever can be shared."""
    shared = desk.shared_items.find(identity)
    with st.popover("Shared" if shared else "Share", icon=":material/public:"):
        st.write(
            "Visitors find it on the page 'Shared'. It is public by its promise; title and note are public too."
            if shared is None
            else "It is on the page 'Shared'. Taking it down does not call back what was downloaded."
        )
        title = st.text_input("Title", shared.title if shared else suggestion, key=f"share-title-{identity}")
        note = st.text_area("Note for visitors", shared.note if shared else "", key=f"share-note-{identity}")
        if st.button("Change" if shared else "Share it", type="primary", key=f"share-{identity}"):
            with messages.guarded():
                desk.share(identity, title=title, note=note)
                st.rerun()
        if shared is not None:
            st.button("Take it down", on_click=desk.shared_items.take_down, args=(identity,), key=f"unshare-{identity}")
