"""Words, mechanisms and settings; the tables are read off the registry, so they are always complete."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.base.odds import most_won, percent_up
from core.base.version import program_version
from core.desk.desk import Desk
from core.desk.workspace import HOME_VARIABLE
from core.registry import decisions, interactive, offline, query_classes, randomisers
from dashboard.door import access
from dashboard.views.common import messages, state
from dashboard.views.common.wording import purpose
from dashboard.views.tour import tour

WORDS = {
    "Unit of privacy": "Whose presence is hidden: one row, or all rows of one person up to a limit.",
    "Epsilon (ε)": "How much one unit may change the odds of anything that is published. Smaller protects more.",
    "Delta (δ)": "The probability with which the promise about epsilon may fail. Choose far below one in the number of "
    "people, or 0. It never makes a release worse: where pure noise is about as exact, that is drawn and δ is 0.",
    "Budget": "What all releases and sessions of a table may cost together. What a closed session never used comes "
    "back, nothing else does. Releases with and without δ share it badly: half of it spent on one kind leaves less "
    "than half for the other.",
    "Schema": "What is publicly known about the columns: kinds, bounds, bins, categories. It is part of every release.",
    "Release": "Synthetic records, noisy tables and a certificate, made once and stored. Opening it again is free.",
    "Session": "Questions answered one at a time. Easy ones follow from what is public, hard ones are measured.",
    "Formula or SQL": "A question as text, `age >= 65 and region in {north, east}`, or a statement, `SELECT region, "
    "COUNT(*), AVG(age) FROM t WHERE age >= 65 GROUP BY region`. It is read, never run; a statement lists every group "
    "that the schema allows.",
    "Decision": "Instead of a table, what to do: which sites to open, where a network splits, what covers all. Its "
    "public part is known to all, the rows decide, and it comes with what is proven of it.",
    "Local model": "No table at all: each person's device changes the answer by chance and sends the result, as on the "
    "page Collect. ε is promised to each person, and nobody has to be trusted; the price is a larger error.",
    "Limits": "What no method can do, on a page for everybody: it attacks invented people and shows what noise, a "
    "small epsilon and simple classes of questions are good for.",
    "Curator only": "Exact figures from the table. They must not leave this desk.",
}

PROVIDERS = {
    "Google": "address; it says true for addresses that it hosts or has checked",
    "Auth0, Keycloak, Okta": "address, where it is verified there and the scope 'email' is asked for; else account",
    "Microsoft Entra": "account: it does not say whether an address is verified, and people can change theirs",
    "Others": "account, unless the claim is true in what they send",
}


HOW = (
    "**Describe the table.** What its columns may hold comes from forms, laws and code books, never from its rows, and "
    "is public.",
    "**Set a budget.** It says how much all releases together may tell about any one person; what is spent does not "
    "come back.",
    "**Release.** Counts are made inaccurate by chance, just so much as the promise needs, and synthetic records are "
    "drawn from them. How exact they will be is told before it is paid.",
    "**Publish.** Records, tables and certificate may be given to anybody, and so may all that is computed from them.",
)
OUTCOME = (
    "Large groups come out well and small ones do not: that is the protection, not a fault. Every release says how "
    "much better than before anybody can tell, at most and whatever else they know, that a person was in the table."
)


def how() -> None:
    """What happens to a table, for whoever reads about it first."""
    st.header("How it works", divider="gray")
    st.markdown("\n".join(f"{place}. {step}" for place, step in enumerate(HOW, 1)))
    st.write(OUTCOME)
    if access.role() == "curator" and state.demo_file() is not None:
        tour.offer()


def words() -> None:
    st.header("What the words mean", divider="gray")
    for word, meaning in WORDS.items():
        st.markdown(f"**{word}**: {meaning}")
    won = ", ".join(f"{percent_up(most_won(epsilon))} % at ε {epsilon:g}" for epsilon in (0.1, 1.0, 3.0))
    messages.note(f"Even bets on a person being in the table, won after seeing the release: at most {won}.", "public")


def registered() -> None:
    """Every class and mechanism, folded: lists to look something up in, not to read."""
    st.header("Everything that is offered", divider="gray")
    with st.expander("What can be asked", icon=":material/list:"):
        classes = {name: kind.title for name, kind in query_classes.items()}
        _listed(classes, "Class", "In a sentence", "Every query class.")
    for title, kinds, alt in (
        ("How it is released", offline, "Every mechanism for releases."),
        ("How questions are answered", interactive, "Every interactive mechanism."),
        ("How decisions are made", decisions, "Every private decision."),
        ("How people randomise their own answers", randomisers, "Every randomiser of the page Collect."),
    ):
        with st.expander(f"{title} ({len(kinds)})", icon=":material/list:"):
            _mechanisms(kinds, alt)


def settings(desk: Desk) -> None:
    """How this desk is run; for curators, because a path is nobody else's business."""
    st.header("Settings", divider="gray")
    login = access.login_section() is not None
    mode = "public demo" if access.demo() else "login" if login else "this machine only, by the printed link"
    lines = {
        "Version": program_version(),
        "Curators": mode,
        "Workspace": "thrown away when you leave" if access.demo() else str(desk.folder),
        "Ledger": desk.ledger.database.where,
        HOME_VARIABLE: "set" if os.environ.get(HOME_VARIABLE) else "not set: the user's data folder is used",
        access.DEMO_VARIABLE: os.environ.get(access.DEMO_VARIABLE, "") or "not set",
    }
    _listed(lines, "Setting", "Value", "How this desk is run.")
    messages.note("Paths on this machine.", "curator only")
    if not access.demo():
        _curators()


def _curators() -> None:
    """Who may come in, and what to write down for each provider of a login."""
    st.header("Who is a curator", divider="gray")
    st.write(
        "Without a login the curator's pages are served on this machine only, to whoever opens the link that "
        "`release-desk` printed when it was started; everybody else sees the pages 'Shared', 'Limits' and 'Help'. To "
        "let curators in from elsewhere, start it with `--host desk.example`, the name that a proxy with HTTPS shows "
        "it under, and add a section to `.streamlit/secrets.toml`:"
    )
    st.code(
        '[auth]\nredirect_uri = "https://desk.example/oauth2callback"\ncookie_secret = "a long random text"\n'
        'client_id = "…"\nclient_secret = "…"\nserver_metadata_url = "https://…/.well-known/openid-configuration"\n'
        'curators = ["ada@clinic.example", {issuer = "https://…", subject = "…"}]',
        language=None,
        wrap_lines=True,
    )
    st.write(
        "An address makes a curator only if the provider says that it was verified: the claim `email_verified` must be "
        "true, not missing and not a text. Otherwise name the account by the claims `iss` and `sub`."
    )
    _listed(PROVIDERS, "Provider", "List curators by", "How curators are listed for each provider of a login.")
    st.write(
        "For strangers, `release-desk --visitors` serves what is shared from the same workspace, on a port of its own "
        "and without the curator's pages."
    )


def _mechanisms(kinds: Mapping[str, Any], alt: str) -> None:
    """By the titles that the pages show; the name is what a script says."""
    _table(
        {
            "Mechanism": [kind.title for kind in kinds.values()],
            "Known as": [", ".join(kind.known_as) for kind in kinds.values()],
            "When": [purpose(kind.prefer) for kind in kinds.values()],
            "Name": list(kinds),
        },
        alt,
    )


def _listed(lines: Mapping[str, str], noun: str, about: str, alt: str) -> None:
    _table({noun: list(lines), about: list(lines.values())}, alt)


def _table(columns: Mapping[str, list[str]], alt: str) -> None:
    """Sentences wrap in it, where a grid would cut them."""
    cells = {name: [messages.plain(text) for text in texts] for name, texts in columns.items()}
    st.table(pd.DataFrame(cells), hide_index=True, alt=alt)
