"""What to release: query classes, each with a form of its own options."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.desk import HeldTable
from core.domain import Domain
from core.errors import DeskError, Refused
from core.options import options_of
from core.queries.protocol import Columns, QueryClass
from core.registry import query_classes
from dashboard.views import messages, option_form

USUAL = "marginals"


def queries(table: HeldTable) -> list[QueryClass] | None:
    """The chosen classes, or None with one sentence for each that does not fit."""
    names = st.multiselect(
        "Query classes",
        list(query_classes),
        default=[USUAL],
        format_func=lambda name: query_classes[name].title,
        key=f"classes-{table.id}",
        persist_state="session",
        help="All chosen classes are released together, by one mechanism and from one budget.",
    )
    if not names:
        st.error("Choose at least one query class.", icon=":material/error:")
        return None
    # In the registry's order: the same classes clicked in another order are the same plan, paid for once.
    asked = [_class(name, table) for name in query_classes if name in names]
    return None if any(found is None for found in asked) else [query for found in asked if found for query in found]


def tables_of(query: QueryClass, domain: Domain) -> tuple[Columns, ...]:
    """The tables that a class looks at; one that is not linear looks at the table of its columns."""
    try:
        return query.tables(domain)
    except Refused:
        return (tuple(getattr(query, "columns", ())),)


def _class(name: str, table: HeldTable) -> list[QueryClass] | None:
    kind = query_classes[name]
    with st.container(border=True):
        st.markdown(f"**{kind.title}**")
        options = options_of(kind)
        for option in options:
            fits = option_form.suited(option, table.domain)
            if option.kind in ("column", "columns") and option.low != 0 and len(fits) < (option.low or 1):
                least = f"{option.low:.0f} columns" if option.low and option.low > 1 else "a column"
                st.error(f"The schema needs {least} of {option_form.contents(option)} for this.", icon=":material/error:")
                return None
        values = option_form.fill(options, table.domain, f"class-{table.id}-{name}")
        try:
            found = _built(name, values, table.domain)
        except DeskError as problem:
            st.error(messages.sentence(problem), icon=":material/error:")
            return None
        messages.note(f"{messages.plain('; '.join(query.sentence(table.domain) for query in found))}.", "public")
    return found


def _built(name: str, values: dict[str, Any], domain: Domain) -> list[QueryClass]:
    """The class with these values, once for each column where it is about a single one."""
    kind: Any = query_classes[name]
    single = next((option.name for option in options_of(kind) if option.kind == "column"), None)
    for option in options_of(kind):
        if option.kind in ("column", "columns") and option.low != 0 and not values[option.name] and not (
            option.every and _all_chosen(option.name, values)
        ):
            raise Refused("Choose at least one column.")
    each = [values] if single is None else [values | {single: column} for column in values[single]]
    found = [kind(**chosen) for chosen in each]
    for query in found:
        query.check(domain)
    return found
