"""Rename a table or a release, put it away, and bring it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core.desk.desk import Desk
from core.desk.kept.labels import LONGEST_NAME
from dashboard.views.common import messages


def show(desk: Desk, identity: str, name: str, noun: str) -> None:
    """The name it has now, and a way to put it away; where it was put away, a way back."""
    away = desk.labels.of(identity).archived
    with st.popover(f"Rename or put away this {noun}", icon=":material/edit:"):
        key = f"label-{identity}"
        st.text_input("Name", name, key=key, max_chars=LONGEST_NAME)
        with st.container(horizontal=True):
            st.button("Rename", key=f"rename-{identity}", on_click=_rename, args=(desk, identity, key))
            if away:
                st.button("Bring it back", key=f"unarchive-{identity}", on_click=_tried, args=(desk.restore, identity))
            else:
                st.button("Put it away", key=f"archive-{identity}", on_click=_tried, args=(desk.archive, identity))
        if away:
            st.info(f"This {noun} is put away: it is not listed any more.", icon=":material/inventory_2:")
        st.caption("Nothing is deleted: the ledger keeps every spend, and what is put away can be brought back.")


def put_away(desk: Desk, found: Mapping[str, str], noun: str) -> None:
    """What was put away, by id and name."""
    if not found:
        return
    with st.expander(f"Put away ({len(found)})", icon=":material/inventory_2:"):
        for identity, name in found.items():
            with st.container(horizontal=True, vertical_alignment="center"):
                st.write(messages.plain(name))
                label = f"Bring this {noun} back"
                st.button(label, key=f"restore-{identity}", on_click=_tried, args=(desk.restore, identity))


def _rename(desk: Desk, identity: str, key: str) -> None:
    _tried(lambda held: desk.rename(held, str(st.session_state.get(key, ""))), identity)


def _tried(change: Callable[[str], None], identity: str) -> None:
    try:
        change(identity)
    except Exception as problem:
        st.toast(messages.sentence(problem))
