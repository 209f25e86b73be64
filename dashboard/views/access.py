"""Who may see the curator's pages.

Three ways to run the dashboard:

* **Own machine** (the default): curator pages are served to visitors on the same machine only.
* **Login**: with an `[auth]` section in Streamlit's secrets, to the people listed there under `curators`. A login alone
  says who somebody is, not what they may do.
* **Demo** (`RELEASE_DESK_DEMO=1`): to everybody, because there is nothing private: uploads are refused and each visitor
  gets a workspace that is thrown away.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Mapping

import streamlit as st

DEMO_VARIABLE = "RELEASE_DESK_DEMO"
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")
"""Headers of a proxy: behind one every visitor seems to come from this machine."""


def demo() -> bool:
    return os.environ.get(DEMO_VARIABLE, "").strip().lower() in ("1", "true", "yes")


def curators_only() -> None:
    """Stop the page unless the visitor is a curator."""
    if demo():
        st.sidebar.info("Public demo: invented data, thrown away when you leave.", icon=":material/science:")
        return
    login = login_section()
    if login is not None:
        _logged_in(login)
    elif not local(st.context.ip_address, st.context.headers):
        st.title("Release Desk")
        st.error(
            "No login is configured, so the curator's pages are served on this machine only. Open the dashboard at its "
            "loopback address, or ask whoever runs it to configure a login."
        )
        st.stop()


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


def _logged_in(login: Mapping[str, object]) -> None:
    user = st.user
    if not user.get("is_logged_in", False):
        st.title("Release Desk")
        st.write("These pages are for the curator of the tables.")
        st.button("Log in", type="primary", on_click=st.login)
        st.stop()
    if user.get("email_verified") is False or not listed(user.get("email"), login.get("curators")):
        st.error("You are logged in, but not on the list of curators; ask whoever runs this dashboard to add you.")
        st.button("Log out", on_click=st.logout)
        st.stop()


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
