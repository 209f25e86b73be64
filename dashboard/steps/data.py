"""Data: choose a table, whose privacy counts, the budget, and declare what is publicly known about the columns."""

from typing import Literal

import streamlit as st

from dashboard.views.common import budget_form, label_form, messages, state
from dashboard.views.data import gallery, intake, kept_drafts, sources_form, unit_form, welcome
from dashboard.views.data.schema import bins_preview

here, desk = state.session(), state.desk()

st.title("Data")
with st.container():
    # A place of its own: what comes below stays what it is when a way in is taken.
    if not desk.tables() and not st.session_state.get("source"):
        welcome.show(state.demo_file() is not None)
st.write("Describe a table once. Its rows are encoded by your description, kept on this machine, and never shown.")

# Each step has a place of its own: what one of them shows more or less of moves no other, and nothing that is open
# further down is closed by it.
with st.container():
    st.header("1 · Choose a table", divider="gray")
    sources_form.choose(here.draft, desk)

if here.draft.columns:
    with st.container():
        st.header("2 · Say whose privacy is protected", divider="gray")
        unit = unit_form.unit([name for name, _ in here.draft.columns], here.draft.identity, gallery.unit(here.draft))

    with st.container():
        st.header("3 · Set the total budget", divider="gray")
        budget = budget_form.budget("total", epsilon="2", delta="1e-9", about="all releases of this table together")
        apart = intake.shared_budget()

    st.header("4 · Declare the public schema", divider="gray", anchor=intake.SCHEMA)
    above = st.container()
    domain = intake.schema(here.draft, None if unit is None else unit.column)
    with above:
        # After the grid, whose latest kinds and ticks it goes by.
        intake.fillers(here.draft, desk, unit, budget, apart)

    kept_drafts.keep(here.draft, desk)
    if domain is not None:
        bins_preview.show(domain, unit, budget)
    if unit is None:
        st.info("Choose in step 2 whose privacy is protected; it is never assumed.", icon=":material/person:")
    ready = domain is not None and unit is not None and budget is not None and apart != ""
    # Once it is open the way on is the main button, until the schema is another one.
    same = domain is not None and domain.digest == here.draft.opened
    emphasis: Literal["primary", "secondary"] = "secondary" if same else "primary"
    pressed = st.button(
        "Open this table", type=emphasis, icon=":material/lock_open:", disabled=not ready, key="open-table"
    )
    if pressed and domain is not None and unit is not None and budget is not None:
        here.draft.opened = ""
        with messages.guarded(), st.spinner("Reading and encoding the table …"):
            # Kept before the spinner ends: a click elsewhere stops the page there.
            added = intake.open_table(here.draft, desk, domain, unit, budget, apart)
            if not intake.misfitting(added):
                # Otherwise the schema is to be corrected, and the file needed again.
                kept_drafts.drop(here.draft, desk)
            intake.replace_mistaken(desk, here.added, added)
            here.added = here.table = added.id
            here.shown = None
            here.draft.opened = "" if intake.misfitting(added) else domain.digest
        if here.draft.opened:
            st.rerun()

tables = desk.tables()
added_now = next((table for table in tables if table.id == here.added), None)
if added_now is not None:
    intake.report(added_now, desk)
if tables:
    st.header("Tables at this desk", divider="gray")
    chosen = state.choose_table(tables)
    label_form.show(desk, chosen.id, chosen.name, "table")
    intake.overview(tables)
label_form.put_away(desk, state.table_labels(desk.tables(archived=True)), "table")
