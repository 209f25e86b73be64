"""Rules that every record obeys: one to a line, mistakes marked, each said back in plain words."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.errors import DeskError
from core.base.wording import plural
from core.rules.contradictions import check_rules
from core.rules.count_table import count_rules
from core.rules.rule_set import mistakes
from core.rules.told import COUNTED
from core.schema.domain import Domain, names_column
from dashboard.views.common import messages
from dashboard.views.data.draft import Draft

EXAMPLES = """never: age < 15 and marital = married
if smoker = false then cigarettes = 0
discharge >= admission
total = wages + benefits
postcode -> region
count(region = north and sex = female) = 1200"""


def show(draft: Draft, domain: Domain) -> Domain | None:
    """The schema with the rules that were typed; None while they have a mistake or contradict each other."""
    with st.expander("Rules that every record obeys (optional)", expanded=bool(draft.rules), icon=":material/rule:"):
        st.write(
            "Facts that anybody may know, one to a line: from a law, a form or a census, **never from the data**. "
            "Synthetic records keep them all, and errors fall where they apply. Rows of the table that break one are "
            "counted for you alone."
        )
        examples, counts = st.columns(2)
        with counts, st.popover("Add a table of known counts", icon=":material/table:", width="stretch"):
            _counts(draft, domain)
        with examples, st.popover("Examples", icon=":material/help:", width="stretch"):
            st.code(EXAMPLES, language=None)
            st.write(
                "Nobody under 15 is married; who does not smoke has 0 cigarettes; an order; a sum; a postcode lies in "
                "one region; a publicly known count, which the records meet exactly. A missing value fulfils no "
                "condition; an order or a sum says nothing where a value is missing."
            )
            st.write(COUNTED)
        draft.rules = st.text_area(
            "Rules, one to a line",
            value=draft.rules,
            key=f"rules-{draft.rules_version}",
            height=120,
            placeholder="never: age < 15 and smoker = true",
            max_chars=200_000,
        )
        unused = [name for name, _ in draft.columns if name not in domain]
        return _read(draft.rules.splitlines(), domain, unused)


def _counts(draft: Draft, domain: Domain) -> None:
    """Publicly known counts, pasted as a table; each line becomes a rule."""
    st.write("One line per count, such as a census table: columns of the schema, then the count.")
    st.code("region,sex,count\nnorth,female,1200\nnorth,male,1180", language=None)
    st.text_area("Paste it here", key="count-table", height=140)
    st.button("Add as rules", key="count-table-add", on_click=_add_counts, args=(draft, domain))
    if draft.counts_problem:
        st.error(draft.counts_problem, icon=":material/error:")


def _add_counts(draft: Draft, domain: Domain) -> None:
    draft.counts_problem = None
    try:
        added = count_rules(str(st.session_state.get("count-table", "")), domain)
    except DeskError as problem:
        draft.counts_problem = messages.sentence(problem)
        return
    typed = [line for line in draft.rules.splitlines() if line.strip()]
    draft.take_rules(dict.fromkeys([*typed, *added]))


def _read(typed: list[str], domain: Domain, unused: list[str]) -> Domain | None:
    # blank in their place, so that mistakes are told by the lines that are seen
    lines = ["" if any(names_column(line, name) for name in unused) else line for line in typed]
    if aside := sum(one != other for one, other in zip(typed, lines, strict=True)):
        messages.note(f"{plural(aside, 'rule')} set aside: a column that is named is not ticked in the grid.", "public")
    found = mistakes(domain, lines)
    if found:
        messages.mistakes("in the rules", len(found), found)
        return None
    try:
        rules = check_rules(domain.obeying(lines))
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    if rules:
        written, words = zip(*rules.sentences(), strict=True)
        st.table(
            pd.DataFrame({"Rule": map(messages.plain, written), "In words": map(messages.plain, words)}),
            hide_index=True,
            alt="Every rule as it was typed, and in plain words.",
        )
        messages.note("They agree with each other, and become public with every release.", "public")
    return rules.domain


def broken(rows: dict[str, int]) -> None:
    """How many rows of a table that was opened break each rule; for the curator's eyes."""
    some = {text: count for text, count in rows.items() if count}
    if not some:
        st.write(f"Every row keeps {'the rule' if len(rows) == 1 else f'all {len(rows)} rules'}.")
        return
    st.write(
        "Rows that break a rule (of a known count: how far the table is from it). Releases follow the rules all the "
        "same; a rule that many rows break is not true of this table, and should go."
    )
    st.table(
        pd.DataFrame({"Rule": map(messages.plain, some), "Rows": [f"{count:,}" for count in some.values()]}),
        hide_index=True,
        width="content",
        alt="Number of rows that break each rule.",
    )
