"""The rules that a planned release keeps, and how."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.base.wording import plural
from core.mechanisms.kit.protocol import Mechanism
from core.planning.rules_told import tell_rules
from core.plans.statements import DeskTable
from core.queries.kit.protocol import QueryClass
from core.rules.rule_set import rules_of
from core.rules.told import about
from dashboard.views.common import messages


def show(table: DeskTable, asked: Sequence[QueryClass], mechanism: type[Mechanism]) -> None:
    """Nothing where the schema declares none."""
    told = tell_rules(table.domain, asked, mechanism)
    if not told:
        return
    with st.expander(f"Every record keeps {plural(len(told), 'rule')}", icon=":material/rule:"):
        st.table(
            pd.DataFrame(
                {
                    "Rule": [messages.plain(rule.text) for rule in told],
                    "In words": [messages.plain(rule.words) for rule in told],
                    "How it is met": [rule.how for rule in told],
                }
            ),
            hide_index=True,
            alt="The rules of the schema, in words, and how the chosen mechanism meets each of them.",
        )
        messages.note(about(rules_of(table.domain)), "public")
