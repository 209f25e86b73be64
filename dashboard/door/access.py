"""Who may see what: curators everything, visitors what is shared.

Four ways to run the dashboard:

* **Own machine** (the default): the curator sits at the same machine and came in by the link that the command
  `release-desk` printed at this start; anybody else sees what is shared.
* **Login**: with an `[auth]` section in Streamlit's secrets, curators are the people listed there under `curators`. A
  login alone says who somebody is, not what they may do; everybody else is a visitor.
* **Demo** (`RELEASE_DESK_DEMO=1`, or a hosted demo that is recognised by its folder): everybody is the curator of a
  workspace of their own that is thrown away; uploads are refused, because there must be nothing private.
* **Visitors only** (`RELEASE_DESK_ROLE=visitor`; `release-desk --visitors` serves a file without the curator's pages):
  nobody is a curator here, whatever they bring.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import streamlit as st

from dashboard.door import uploads
from dashboard.door.key import cookie_name, key

ROLE_VARIABLE = "RELEASE_DESK_ROLE"
DEMO_VARIABLE = "RELEASE_DESK_DEMO"
HOSTED = Path("/mount/src")
"""Where a hosted demo on Streamlit's Community Cloud has its checkout."""
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")
"""Headers of a proxy: behind one every visitor seems to come from this machine."""


WORKER_VARIABLE = "RELEASE_DESK_WORKER"

Role = Literal["curator", "visitor"]


def visitors_only() -> bool:
    """Whether this server has no curators. A value that is not understood gives no rights either."""
    return os.environ.get(ROLE_VARIABLE, "").strip().lower() not in ("", "curator")


def demo() -> bool:
    """Whether this is a public demo: said so, or recognised by the folder that hosted demos run in."""
    if visitors_only():
        return False
    said = os.environ.get(DEMO_VARIABLE, "").strip().lower()
    return said in ("1", "true", "yes") if said else HOSTED in Path(__file__).resolve().parents


def worker() -> bool:
    """Whether releases run in a process of their own: by the command, unless it was told not to."""
    return os.environ.get(WORKER_VARIABLE, "").strip().lower() in ("1", "true", "yes")


def role() -> Role:
    """What the visitor may do."""
    if visitors_only():
        return "visitor"
    if demo():
        return "curator"
    login = login_section()
    if login is None:
        let_in = has_key() and local(st.context.ip_address, st.context.headers)
    else:
        let_in = st.user.get("is_logged_in", False) is True and listed(st.user, login.get("curators"))
    return "curator" if let_in else "visitor"


def curator() -> str | None:
    """Under what name drafts are kept: one for whoever sits at this machine, one for each account of a login.

    None for visitors and in a demo, where nothing is kept.
    """
    if demo() or role() != "curator":
        return None
    if login_section() is None:
        return "here"
    claims = [str(st.user.get(name) or "") for name in ("iss", "sub", "email")]
    return hashlib.sha256("\n".join(claims).encode("utf-8", "surrogatepass")).hexdigest()


def has_key() -> bool:
    """Whether the browser came in by the link of this start."""
    return key().opens(st.context.cookies.get(cookie_name()))


def open_uploads(who: Role) -> None:
    """Let curators upload in this session; a demo takes schemas and plans, which are small."""
    most = uploads.SMALL_FILES if demo() else uploads.tables()
    uploads.admit_this_session(most if who == "curator" else 0)


def explain(who: Role) -> None:
    """Say in the sidebar why a visitor sees what they see, and offer the way in or out where there is one."""
    with st.sidebar:
        if demo():
            st.info("Public demo: invented data, thrown away when you leave.", icon=":material/science:")
        elif login_section() is None:
            if who == "visitor":
                # Of no use to anybody else, who would read it first.
                with st.expander("For the curator", icon=":material/lock:"):
                    st.write(
                        "The curator's pages are served on this machine only, to whoever opens the link that the "
                        "command `release-desk` printed when it was started."
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
    if address is not None and not loopback(address):
        return False
    names = {name.lower() for name in headers}
    if any(name.lower() in names for name in FORWARDED):
        return False
    host = next((value for name, value in headers.items() if name.lower() == "host"), "localhost")
    return loopback(_name_of(host))


def listed(claims: Mapping[str, object], curators: object) -> bool:
    """Whether what the provider says about somebody is on the curators' list; an empty list admits nobody.

    An address counts if the provider says that it has verified it, with true and nothing like it: elsewhere anybody can
    type the address of a curator into their profile. Where a provider does not say so, a curator is listed by issuer
    and subject, the pair that names one account for good.
    """
    if isinstance(curators, str | Mapping) or not isinstance(curators, Iterable):
        return False
    return any(_is(claims, curator) for curator in curators)


def _is(claims: Mapping[str, object], curator: object) -> bool:
    if isinstance(curator, Mapping):
        wanted, said = (curator.get("issuer"), curator.get("subject")), (claims.get("iss"), claims.get("sub"))
        # Both have to be there: two claims that are missing would be equal.
        return all(isinstance(part, str) and part for part in wanted) and wanted == said
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str) or not isinstance(curator, str):
        return False
    return bool(email.strip()) and email.strip().lower() == curator.strip().lower()


def _name_of(host: str) -> str:
    """A Host header without its port."""
    host = host.strip().lower()
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def loopback(name: str) -> bool:
    """Whether a name leads nowhere but to the machine that asks."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
