"""Data: choose a table, declare what is publicly known about it, whose privacy counts, and the budget."""

import streamlit as st

from dashboard.views import budget_form, intake, messages, state, unit_form

here, desk = state.session(), state.desk()

st.title("Data")
st.write("Describe a table once. Its rows are encoded by your description, kept on this machine, and never shown.")

st.header("1 · Choose a table", divider="gray")
intake.choose(here.draft, desk)

if here.draft.columns:
    st.header("2 · Declare the public schema", divider="gray")
    intake.schema_files(here.draft)
    domain = intake.schema(here.draft)

    st.header("3 · Say whose privacy is protected", divider="gray")
    unit = unit_form.unit([name for name, _ in here.draft.columns], here.draft.origin)
    if domain is not None and unit is not None and unit.column in domain:
        st.warning(
            f"The id column '{messages.plain(unit.column)}' is ticked in the schema, so invented ids would be "
            "released; untick it unless you want that.",
            icon=":material/warning:",
        )

    st.header("4 · Set the total budget", divider="gray")
    budget = budget_form.budget("total", epsilon="2", delta="1e-9", about="all releases of this table together")

    if unit is None:
        st.info("Choose in step 3 whose privacy is protected; it is never assumed.", icon=":material/person:")
    ready = domain is not None and unit is not None and budget is not None
    pressed = st.button("Open this table", type="primary", icon=":material/lock_open:", disabled=not ready)
    if pressed and domain is not None and unit is not None and budget is not None:
        with messages.guarded(), st.spinner("Reading and encoding the table …"):
            # Kept before the spinner ends: a click elsewhere stops the page there.
            added = intake.open_table(here.draft, desk, domain, unit, budget)
            here.added = here.table = added.id
            here.shown = None

held = desk.tables()
added_now = next((table for table in held if table.id == here.added), None)
if added_now is not None:
    intake.report(added_now)
if held:
    st.header("Tables at this desk", divider="gray")
    state.choose_table(held)
    intake.overview(held)
