"""What to release: query classes, each with a form of its own options."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base.errors import DeskError, Refused
from core.base.options import Option, options_of
from core.base.wording import plural
from core.plans.statements import DeskTable
from core.queries.kit.protocol import QueryClass
from core.registry import query_classes
from core.schema.domain import Domain
from dashboard.views.common import messages, option_form

USUAL = "marginals"
COLUMNS = ("column", "columns")


def names_key(table: DeskTable) -> str:
    """The key of the list of chosen classes."""
    return f"classes-{table.id}"


def form_key(table: DeskTable, name: str) -> str:
    """What the keys of the fields of a class start with."""
    return f"class-{table.id}-{name}"


def loaded_key(table: DeskTable) -> str:
    """Where the classes of a loaded plan are kept that the forms have no fields for."""
    return f"loaded-{table.id}"


def queries(table: DeskTable) -> list[QueryClass] | None:
    """The chosen classes, or None with one sentence for each that does not fit."""
    loaded: tuple[QueryClass, ...] = st.session_state.get(loaded_key(table), ())
    names = st.multiselect(
        "Query classes",
        list(query_classes),
        default=[USUAL],
        format_func=lambda name: query_classes[name].title,
        select_all=False,
        key=names_key(table),
        persist_state="session",
        help="All chosen classes are released together, by one mechanism and from one budget.",
    )
    if not names and not loaded:
        st.error("Choose at least one query class.", icon=":material/error:")
        return None
    # In the registry's order: the same classes clicked in another order are the same plan, paid for once.
    asked = [_class(name, table) for name in query_classes if name in names]
    _loaded(table, loaded)
    if any(found is None for found in asked):
        return None
    return [query for found in asked if found for query in found] + list(loaded)


def _loaded(table: DeskTable, loaded: tuple[QueryClass, ...]) -> None:
    """What a loaded plan asks besides the forms: shown in words, and taken out as a whole."""
    if not loaded:
        return
    with st.container(border=True):
        st.markdown("**As in the loaded plan**")
        messages.note(f"{messages.plain('; '.join(query.sentence(table.domain) for query in loaded))}.", "public")
        st.button("Take these out", on_click=st.session_state.pop, args=(loaded_key(table), None))


def _class(name: str, table: DeskTable) -> list[QueryClass] | None:
    kind, domain = query_classes[name], table.domain
    options = options_of(kind)
    with st.container(border=True):
        st.markdown(f"**{kind.title}**")
        try:
            _enough_columns(options, domain)
            found = _built(kind, options, option_form.fill(options, domain, form_key(table, name)))
            for query in found:
                query.check(domain)
        except DeskError as problem:
            st.error(messages.sentence(problem), icon=":material/error:")
            return None
        messages.note(f"{messages.plain('; '.join(query.sentence(domain) for query in found))}.", "public")
    return found


def _enough_columns(options: tuple[Option, ...], domain: Domain) -> None:
    """Refuse a class whose columns the schema does not have, before its form is shown."""
    for option in options:
        fewest = 1 if option.low is None else int(option.low)
        if option.kind in COLUMNS and len(option_form.suited(option, domain)) < fewest:
            what = f" of {option_form.contents(option)}" if option.only else ""
            raise Refused(f"This class needs {plural(fewest, 'column')}{what}, and the schema has fewer.")


def _built(kind: Any, options: tuple[Option, ...], values: dict[str, Any]) -> list[QueryClass]:
    """The class with these values, once for each column where it is about a single one."""
    named = [values[option.name] for option in options if option.kind in (*COLUMNS, "facts")]
    if named and all(value is None for value in named):
        raise Refused("Choose at least one column.")
    given = {name: value for name, value in values.items() if value is not None}
    single = next((option.name for option in options if option.kind == "column"), None)
    each = [given] if single is None else [given | {single: column} for column in given[single]]
    return [kind(**chosen) for chosen in each]
