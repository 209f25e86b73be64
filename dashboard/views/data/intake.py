"""Taking in a table: from the header of its source to an encoded table at the desk."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.wording import amount, plural
from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain
from dashboard.views.common import messages, next_step, state, wording
from dashboard.views.data import discovery_form, rules_form, schema_files, schema_grid
from dashboard.views.data.draft import Draft
from dashboard.views.data.schema import bulk_edit, sex_spellings, universe
from dashboard.views.data.schema.mistake_list import gathered

SCHEMA = "schema"
"""Where the grid is on the page."""
NEIGHBOURS = {"add-remove": "added or removed", "replace": "replaced by another"}
ADVICE = {
    "categories": "spelling and capitals of the categories",
    "booleans": "whether they are true and false, yes and no, or 1 and 0",
    "integers": "bounds; the decimal sign of the file; numbers with decimals are 'reals'",
    "reals": "bounds; the decimal sign of the file",
    "dates": "bounds; whether days are written as 2024-12-31",
}
MANY_MOVED = 0.03
"""The part of a column's cells that may not fit before something is wrong with the schema."""


def fillers(draft: Draft, desk: Desk, unit: Unit | None, total: Budget | None, apart: str | None) -> None:
    """Four ways to fill the grid; none of them looks at the table without being paid for."""
    st.write(
        "Bounds, bins and categories become public with every release. Take them from a form, a law or a code book, "
        "**never from the data**: what the grid starts with comes from names and types alone. Cells that do not fit "
        "are moved to the nearest bound or to the 'other' cell."
    )
    places = st.columns(4)
    with places[0]:
        schema_files.saved(draft, desk)
    with places[1]:
        schema_files.code_book(draft, desk)
    with places[2]:
        schema_files.public_sample(draft, desk)
    with places[3]:
        discovery_form.show(draft, desk, unit, total, apart)
    with st.container():
        now = state.session().added
        schema_files.offer_known(draft, [one for one in desk.tables() if one.id != now and not misfitting(one)])
    if draft.schema_problem:
        # Also here: beside its button it is hidden as soon as that is closed.
        st.error(f"The grid is as it was. {draft.schema_problem}", icon=":material/error:")
    if draft.told:
        messages.note(messages.plain(draft.told), "released" if draft.filler == discovery_form.BOUGHT else "public")


def schema(draft: Draft, id_column: str | None) -> Domain | None:
    """The grid, what it amounts to, and its download; None while it has an error."""
    if draft.key not in st.session_state and draft.latest is not draft.base:
        # The editor forgot its edits because another page was shown.
        draft.restart(draft.latest)
    bulk_edit.show(draft)
    draft.latest = schema_grid.editor(draft.base, draft.key)
    sex_spellings.show(draft)
    found = schema_grid.mistakes(draft.latest)
    if found:
        messages.mistakes("in the grid", len(found), gathered(found))
        st.caption("A column that need not be in a release needs no description: untick 'Use'.")
        return None
    plain = schema_grid.to_domain(draft.latest)
    universe.show(plain, id_column)
    universe.digits(draft.latest)
    domain = rules_form.show(draft, plain)
    if domain is None:
        return None
    st.download_button(
        "Save the schema",
        domain.to_json(),
        file_name="schema.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )
    return domain


def shared_budget() -> str | None:
    """Why this table does not share the budget of others with the same rows; None where it does, as it should."""
    shared = st.checkbox(
        "Rows that are at this desk already share one budget",
        value=True,
        key="share-account",
        help="The same people in another file, format, order or choice of columns are recognised; what is published "
        "about them adds up in one account.",
    )
    if shared:
        return None
    return st.text_input(
        "Why these are other people",
        key="apart-reason",
        placeholder="who decided it, and why; it stays on record",
        max_chars=2_000,
    )


def open_table(draft: Draft, desk: Desk, domain: Domain, unit: Unit, budget: Budget, apart: str | None) -> DeskTable:
    if draft.spark is not None:
        return desk.add_table(draft.spark, domain, unit=unit, budget=budget, name=draft.name, apart=apart)
    with draft.source(desk.folder) as source:
        return desk.add_table(source, domain, unit=unit, budget=budget, name=draft.name, apart=apart)


def misfitting(table: DeskTable) -> list[str]:
    """Columns whose declaration must be wrong, by how many of their cells it moved. Curator-only."""
    cells = table.notes["rows"] + table.notes["dropped_rows"]
    return [name for name, count in table.notes["misfits"].items() if count > MANY_MOVED * cells]


def replace_mistaken(desk: Desk, before: str | None, added: DeskTable) -> None:
    """Put away what was opened just before with a schema that did not fit, unless something was spent on it."""
    held = next((table for table in desk.tables() if table.id == before != added.id), None)
    if held is None or held.name != added.name or not misfitting(held):
        return
    if not any(entry.dataset_id == held.id for entry in desk.statement(held).entries):
        desk.archive(held.id)


def report(table: DeskTable, desk: Desk) -> None:
    """What happened to the rows; for the curator's eyes."""
    rows, misfits, dropped = table.notes["rows"], table.notes["misfits"], table.notes["dropped_rows"]
    with st.container(border=True):
        wrong = misfitting(table)
        if wrong:
            listed = ", ".join(f"'{messages.plain(name)}'" for name in wrong)
            st.error(
                f"'{messages.plain(table.name)}' is open, but many cells of {listed} do not fit what is declared: a "
                f"release would say something else than the table. **[Correct the schema](#{SCHEMA})** and open the "
                "table again; that costs nothing, and this one is put away.",
                icon=":material/error:",
            )
        else:
            st.success(f"'{messages.plain(table.name)}' is open.", icon=":material/check_circle:")
        messages.badge("curator only")
        if "source" in table.notes:
            name = messages.plain(desk.account_name(table))
            st.write(f"Its rows are at this desk already: it spends from the account '{name}'.")
        st.write(f"{plural(rows, 'row')} in use; {plural(dropped, 'row')} left out by the limit per unit.")
        found = {name: count for name, count in misfits.items() if count}
        if found:
            st.write("Cells that did not fit the schema and were moved:")
            # Only text: a grid would offer private counts as a file.
            st.table(
                pd.DataFrame(
                    {
                        "Column": [messages.plain(name) for name in found],
                        "Cells moved": [amount(count) for count in found.values()],
                        "Of all": [f"{100 * count / max(rows + dropped, 1):.3g} %" for count in found.values()],
                        **({"Look at": [_advice(table, name) for name in found]} if wrong else {}),
                    }
                ),
                hide_index=True,
                width="content",
                alt="Number of cells moved, per column.",
            )
        else:
            st.write("Every cell fits the schema.")
        if rules := table.notes.get("broken_rules"):
            rules_form.broken(rules)
        if wrong:
            st.page_link("steps/plan.py", label="Go on to Plan all the same", icon=":material/arrow_forward:")
        else:
            next_step.link("steps/plan.py", "Go on to Plan")


def _advice(table: DeskTable, name: str) -> str:
    """What usually keeps cells from fitting such a column: follows from its declaration, not from its cells."""
    attribute = table.domain[name]
    return ADVICE[attribute.kind] + ("" if attribute.missing else "; empty cells, unless 'Missing?' is ticked")


def overview(tables: list[DeskTable]) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                "Table": [table.name for table in tables],
                "Columns": [len(table.domain) for table in tables],
                "Unit of privacy": [_unit(table.unit) for table in tables],
                "Total ε": [float(table.budget.epsilon) for table in tables],
                "δ": [wording.number(table.budget.delta) for table in tables],
                "Added": [wording.moment(table.added) for table in tables],
            }
        ),
        hide_index=True,
        alt="Tables at this desk with their unit of privacy and total budget.",
    )
    messages.note("Names, schemas, units and budgets; nothing here is computed from the rows.", "public")


def _unit(unit: Unit) -> str:
    who = "one row" if unit.column is None else f"one {unit.column}, at most {plural(unit.limit, 'row')}"
    return f"{who}, {NEIGHBOURS[unit.neighbours]}"
