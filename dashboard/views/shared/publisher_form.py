"""Who publishes: shown to visitors above what is shared, and filled in by the curator."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from core.desk.kept.publisher import LONGEST_ABOUT, LONGEST_LINE, LONGEST_LOGO, Publisher
from dashboard.views.common import messages
from dashboard.views.shared.wordmark import wordmark

TITLE = "Shared"
WHAT = (
    "Everything here was computed from private tables with differential privacy: it describes a population, and its "
    "certificate says how little one person more or less can change it."
)
FREE = "Every number may be used and passed on."
ABOUT = "What you publish, and for whom."


def head(publisher: Publisher) -> None:
    """The sign and the title of the page."""
    if publisher.logo:
        st.image(wordmark(publisher.logo), alt=publisher.logo)
    st.title(messages.plain(publisher.title) or TITLE)


def show(publisher: Publisher) -> None:
    """Who this is, in a few lines that a stranger understands."""
    if publisher.organisation:
        st.markdown(f"**Published by {messages.plain(publisher.organisation)}**")
    if publisher.about:
        st.write(messages.plain(publisher.about))
    # A licence says itself what may be done.
    st.write(WHAT if publisher.licence else f"{WHAT} {FREE}")
    for label, text in (("Contact", publisher.contact), ("Licence", publisher.licence)):
        if text:
            messages.note(f"{label}: {messages.plain(text)}", "public")


def edit(desk: Desk) -> None:
    """For the curator: what visitors are told."""
    known = desk.publisher.read()
    with st.expander("Who publishes", icon=":material/badge:"), st.form("publisher", border=False):
        title = st.text_input("Title of this page", known.title, max_chars=LONGEST_LINE, placeholder=TITLE)
        logo = st.text_input("Logo", known.logo, max_chars=LONGEST_LOGO, help="A few letters, shown above the title.")
        organisation = st.text_input("Organisation", known.organisation, max_chars=LONGEST_LINE)
        contact = st.text_input("Contact", known.contact, max_chars=LONGEST_LINE)
        licence = st.text_input("Licence", known.licence, max_chars=LONGEST_LINE, placeholder="CC BY 4.0")
        about = st.text_area("About", known.about, max_chars=LONGEST_ABOUT, placeholder=ABOUT)
        if st.form_submit_button("Save", type="primary"):
            with messages.guarded():
                desk.publisher.write(
                    Publisher(
                        title=title, logo=logo, organisation=organisation, contact=contact, licence=licence, about=about
                    )
                )
                st.rerun()
