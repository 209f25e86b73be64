"""Budget: what is left, and every spend on record."""

import streamlit as st

from dashboard.views import budget_form, charts, ledger_view, messages, nothing_yet, result_page, state
from dashboard.views.budget_change import change

here, desk = state.session(), state.desk()
st.title("Budget")

held = desk.tables()
if not held:
    nothing_yet.show()
    st.stop()

table = state.choose_table(held)
statement = desk.statement(table)
delta = budget_form.number(statement.budget.delta)

left, right = st.columns(2)
with left:
    st.subheader("Spent")
    figure, alt = charts.gauge(statement.spent_share)
    st.plotly_chart(figure, alt=alt, key="gauge", config={"displayModeBar": False})
with right:
    st.subheader("Left")
    st.metric("Largest ε one more release may have", f"{statement.left_epsilon:.3g}", border=True)
    st.metric("Total", f"ε {budget_form.number(statement.budget.epsilon)}, δ {delta}", border=True)
messages.note("The budget and its spends do not depend on what is in the table; they may be published.", "public")

for entry in statement.entries:
    progress = desk.progress(entry.plan_id)
    if progress.state in ("running", "stopped"):
        with st.container(border=True):
            st.markdown(f"**{messages.plain(ledger_view.line(entry, table))}**")
            if progress.state == "running":
                result_page.watch(desk, entry.plan_id)
            else:
                result_page.unfinished(desk, entry.plan_id, progress.note)

st.header("Ledger", divider="gray")
if statement.entries:
    oldest_first = list(reversed(statement.entries))
    figure, alt = charts.spends(
        [ledger_view.line(entry, table) for entry in oldest_first],
        [entry.units / statement.total for entry in oldest_first],
        [entry.status != "stored" for entry in oldest_first],
    )
    st.plotly_chart(figure, alt=alt, key="spends", config={"displayModeBar": False})
    st.dataframe(
        ledger_view.frame(desk, statement, {other.id: other for other in held}),
        hide_index=True,
        column_config={
            "ε": st.column_config.NumberColumn(format="%g"),
            "Share": st.column_config.NumberColumn(format="%.2f %%"),
        },
        alt="Every release that was paid for, newest first.",
    )
    messages.note("No row is ever deleted. The share is of the total budget.", "public")
else:
    st.write("Nothing has been spent.")
    st.page_link("pages/release.py", label="Plan a release", icon=":material/arrow_forward:")

change(desk, table, statement)
