"""Budget: what is left, and every spend on record."""

import streamlit as st

from core.base.wording import plural
from core.plans.terms import is_discovery
from dashboard.views.budget import budget_charts, lost_spends, spend_list
from dashboard.views.budget.budget_change import change
from dashboard.views.common import budget_form, messages, next_step, state, wording
from dashboard.views.release import result_page

here, desk = state.session(), state.desk()
st.title("Budget")

lost_spends.show(desk)
tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

table = state.choose_table(tables)
statement = desk.statement(table)
delta = wording.number(statement.budget.delta)

left, right = st.columns(2)
with left:
    st.header("Spent")
    figure, alt = budget_charts.gauge(statement.spent_share)
    st.plotly_chart(figure, alt=alt, key="gauge", config={"displayModeBar": False})
with right:
    st.header("Left")
    st.metric("Largest ε one more release may have", wording.at_most(statement.left_epsilon), border=True)
    st.metric("Total", f"ε {wording.number(statement.budget.epsilon)}, δ {delta}", border=True)
    if (again := spend_list.more(statement)) is not None:
        st.metric("Releases like the last one that it can still pay", f"about {again}", border=True)
messages.note("Budget and spends are not computed from the rows; they may be published.", "public")
budget_form.warn(statement.budget)
spend_list.whose(desk, table, tables, statement)
for session in desk.sessions(table):
    summary = session.summary()
    if summary.status == "open" and summary.left is not None:
        reach = f"can still measure {plural(summary.left, 'question')} at its accuracy"
        messages.note(f"The session '{messages.plain(session.mechanism.title)}' {reach}.", "public")

by_id = {other.id: other for other in tables}
for entry in statement.entries:
    if entry.status == "stored":
        continue
    progress = desk.progress(entry.plan_id)
    with st.container(border=True):
        line = messages.plain(spend_list.line(entry, by_id.get(entry.dataset_id)))
        st.markdown(f"{messages.mark('public')} **{line}**")
        if is_discovery(entry):
            st.warning(
                "It is paid for and was interrupted. Ask for the same suggestions with the same file again: "
                "that finishes it at no cost.",
                icon=":material/pause_circle:",
            )
        elif progress.state == "stopped":
            result_page.unfinished(desk, entry.plan_id, progress.note)
        else:
            result_page.watch(desk, entry.plan_id)

st.header("Ledger", divider="gray")
if statement.entries:
    oldest_first = list(reversed(statement.entries))
    figure, alt = budget_charts.spends(
        [spend_list.line(entry, by_id.get(entry.dataset_id)) for entry in oldest_first],
        [entry.units / statement.total for entry in oldest_first],
        [entry.status != "stored" for entry in oldest_first],
    )
    st.plotly_chart(figure, alt=alt, key="spends", config={"displayModeBar": False})
    messages.note("One piece per spend, oldest first; hatched is paid and not finished, pale is left.", "public")
    if len({entry.reserved_at[:10] for entry in oldest_first}) > 1:
        # Spends of one day need no axis of days.
        figure, alt = budget_charts.timeline(
            [entry.reserved_at for entry in oldest_first],
            [entry.units / statement.total for entry in oldest_first],
            [spend_list.line(entry, by_id.get(entry.dataset_id)) for entry in oldest_first],
        )
        st.plotly_chart(figure, alt=alt, key="timeline", config={"displayModeBar": False})
    st.dataframe(
        spend_list.frame(desk, statement, by_id),
        hide_index=True,
        column_config={
            "Paid (UTC)": st.column_config.TextColumn(width=135),
            "Mechanism": st.column_config.TextColumn(width=225),
            "Released": st.column_config.TextColumn(width=215),
            "ε": st.column_config.NumberColumn(format="%g", width=45),
            "δ": st.column_config.TextColumn(width=55),
            "Share": st.column_config.NumberColumn(format="%.1f %%", width=65),
            "State": st.column_config.TextColumn(width=70),
        },
        row_height=wording.TWO_LINES,
        alt="Every release that was paid for, newest first.",
    )
    messages.note("No row is ever deleted. The share is of the total budget.", "public")
    st.download_button(
        "Save the ledger",
        spend_list.export(desk, statement, by_id),
        file_name="ledger.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
else:
    st.write("Nothing has been spent.")
    st.page_link("steps/plan.py", label="Plan a release", icon=":material/arrow_forward:")

change(desk, table, statement)
