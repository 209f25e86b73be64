"""Letting programs ask a shared session by HTTP: a token that is shown once, and a rate."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from core.desk.kept.machine_keys import MOST_PER_MINUTE
from core.sessions.session import Session
from dashboard.door import access
from dashboard.door.gate import ANSWERS
from dashboard.views.common import messages, state

USUAL_RATE = 30


def show(here: state.PageState, desk: Desk, session: Session) -> None:
    """A popover beside a session that everybody may ask; a demo has no address for programs."""
    if access.demo() or session.status == "closed" or desk.shared_items.find(session.id) is None:
        return
    key = desk.machine_keys.find(session.id)
    token, here.token = here.token, None
    with st.popover("Programs may ask" if key else "Let programs ask", icon=":material/terminal:"):
        st.write(
            "With a token, programs ask this session by HTTP while it is shared: the same answers and "
            "transcript, hard answers included. The token is shown once; a new one replaces it."
        )
        rate = st.number_input(
            "Questions a minute",
            1,
            MOST_PER_MINUTE,
            key.per_minute if key else USUAL_RATE,
            help="Counted by each server that is started on this workspace.",
            key=f"machines-rate-{session.id}",
        )
        st.button(
            "Make a new token" if key else "Make a token",
            type="primary",
            on_click=_make,
            args=(here, desk, session.id, rate),
            key=f"machines-{session.id}",
        )
        if token is not None and token[0] == session.id:
            st.code(f"{ANSWERS}{session.id}\nAuthorization: Bearer {token[1]}", language=None, wrap_lines=True)
            messages.note("The address below this server's own, and the header. Copy them now.", "curator only")
        if key is not None:
            st.button(
                "Withdraw the token",
                on_click=desk.machine_keys.withdraw,
                args=(session.id,),
                key=f"machines-withdraw-{session.id}",
            )


def _make(here: state.PageState, desk: Desk, session: str, rate: int) -> None:
    try:
        here.token = (session, desk.admit_machines(session, per_minute=rate))
    except Exception as problem:
        here.problem = messages.sentence(problem)
