"""Who may see what: curators everything, visitors what is shared.

Three ways to run the dashboard:

* **Own machine** (the default): curators are the visitors at the same machine; anybody else sees what is shared.
* **Login**: with an `[auth]` section in Streamlit's secrets, curators are the people listed there under `curators`. A
  login alone says who somebody is, not what they may do; everybody else is a visitor.
* **Demo** (`RELEASE_DESK_DEMO=1`, or a hosted demo that is recognised by its folder): everybody is the curator of a
  workspace of their own that is thrown away; uploads are refused, because there must be nothing private.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import streamlit as st

DEMO_VARIABLE = "RELEASE_DESK_DEMO"
HOSTED = Path("/mount/src")
"""Where a hosted demo on Streamlit's Community Cloud has its checkout."""
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")
"""Headers of a proxy: behind one every visitor seems to come from this machine."""


Role = Literal["curator", "visitor"]


def demo() -> bool:
    """Whether this is a public demo: said so, or recognised by the folder that hosted demos run in."""
    said = os.environ.get(DEMO_VARIABLE, "").strip().lower()
    return said in ("1", "true", "yes") if said else HOSTED in Path(__file__).resolve().parents


def role() -> Role:
    """What the visitor may do."""
    if demo():
        return "curator"
    login = login_section()
    if login is None:
        return "curator" if local(st.context.ip_address, st.context.headers) else "visitor"
    user = st.user
    known = user.get("is_logged_in", False) and user.get("email_verified") is not False
    return "curator" if known and listed(user.get("email"), login.get("curators")) else "visitor"


def explain(who: Role) -> None:
    """Say in the sidebar why a visitor sees what they see, and offer the way in or out where there is one."""
    with st.sidebar:
        if demo():
            st.info("Public demo: invented data, thrown away when you leave.", icon=":material/science:")
        elif login_section() is None:
            if who == "visitor":
                st.info(
                    "No login is configured, so the curator's pages are served on this machine only.",
                    icon=":material/lock:",
                )
        elif not st.user.get("is_logged_in", False):
            st.button("Log in as a curator", on_click=st.login, icon=":material/login:")
        else:
            if who == "visitor":
                st.info(
                    "You are logged in, but not on the list of curators; ask whoever runs this dashboard to add you.",
                    icon=":material/person_off:",
                )
            st.button("Log out", on_click=st.logout, icon=":material/logout:")


def login_section() -> Mapping[str, object] | None:
    """The `[auth]` section of Streamlit's secrets, where there is one."""
    if not st.secrets.load_if_toml_exists():
        return None
    section = st.secrets.get("auth")
    return section if isinstance(section, Mapping) and section else None


def local(address: str | None, headers: Mapping[str, str]) -> bool:
    """Whether a visitor sits at this machine: no foreign address, no proxy, no foreign host name that leads here."""
    if address is not None and not _loopback(address):
        return False
    names = {name.lower() for name in headers}
    if any(name.lower() in names for name in FORWARDED):
        return False
    host = next((value for name, value in headers.items() if name.lower() == "host"), "localhost")
    return _loopback(_name_of(host))


def listed(email: object, curators: object) -> bool:
    """Whether an address is on the curators' list, whatever its capitals; an empty list admits nobody."""
    if not isinstance(email, str) or isinstance(curators, str) or not isinstance(curators, Iterable):
        return False
    return email.strip().lower() in {str(curator).strip().lower() for curator in curators} - {""}


def _name_of(host: str) -> str:
    """A Host header without its port."""
    host = host.strip().lower()
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
