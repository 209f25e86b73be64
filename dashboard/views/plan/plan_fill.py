"""Putting a loaded plan into the forms of the Plan page, field by field; only before the forms are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

import pandas as pd
import streamlit as st

from core.base.errors import Refused
from core.base.options import Option, options_of, unlisted_of
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.queries.kit.protocol import QueryClass
from core.registry import offline, query_classes
from core.schema.domain import Domain
from dashboard.views.common import editors, option_form
from dashboard.views.plan import class_form, measuring_form, offers, plan_form


def apply(table: DeskTable, plan: ReleaseTerms) -> None:
    """Fill every form, or refuse with one sentence and change nothing."""
    for query in plan.queries:
        query.check(table.domain)
    groups = {name: [query for query in plan.queries if query.name == name] for name in query_classes}
    shown = {name: values for name, group in groups.items() if group and (values := _together(group)) is not None}
    mechanism = offline[plan.mechanism]
    if unlisted := _unlisted(mechanism, plan.options):
        name, why = unlisted
        raise Refused(f"The plan sets '{name}' of '{mechanism.title}', which this form has no field for: {why}.")

    st.session_state[class_form.names_key(table)] = list(shown)
    st.session_state[class_form.loaded_key(table)] = tuple(query for query in plan.queries if query.name not in shown)
    for name, values in shown.items():
        _fill(options_of(query_classes[name]), values, table.domain, class_form.form_key(table, name))
    own = options_of(mechanism)
    defaults = {option.name: option.default for option in own}
    _fill(own, defaults | dict(plan.options), table.domain, offers.option_key(table, plan.mechanism), single=True)
    _pick(offers.pick_key(table, plan.queries), plan.mechanism)
    if mechanism.for_study:
        st.session_state[offers.study_key(table)] = True
    plan_form.fill(table, plan.budget, plan.records, plan.copies)
    measuring_form.fill(table, plan.measure)


def _together(group: Sequence[QueryClass]) -> dict[str, Any] | None:
    """The values of one form for all queries of a class, which may be there once for each column; None if it cannot."""
    options = options_of(type(group[0]))
    lines = [{option.name: getattr(query, option.name) for option in options} for query in group]
    single = next((option.name for option in options if option.kind == "column"), None)
    rest = [{name: value for name, value in line.items() if name != single} for line in lines]
    if any(other != rest[0] for other in rest) or (single is None and len(group) > 1):
        return None
    if any(_unlisted(type(query), vars(query)) for query in group):
        return None
    return rest[0] if single is None else rest[0] | {single: tuple(line[single] for line in lines)}


def _unlisted(kind: Any, values: Mapping[str, Any]) -> tuple[str, str] | None:
    """A setting that the forms do not have, and the reason; None where they have all."""
    usual = {each.name: each.default for each in fields(kind)}
    for name, why in unlisted_of(kind).items():
        if usual[name] is not MISSING and values.get(name, usual[name]) != usual[name]:
            return name, why
    return None


def _fill(
    options: Iterable[Option], values: Mapping[str, Any], domain: Domain, key: str, *, single: bool = False
) -> None:
    facts = any(values[option.name] for option in options if option.kind == "facts")
    for option in options:
        value, place = values[option.name], f"{key}-{option.name}"
        if single and option.kind == "column":
            st.session_state[place] = value
        elif option.kind in class_form.COLUMNS:
            suited = option_form.suited(option, domain)
            named = bool(value) or facts or option.start == 0
            st.session_state[place] = [name for name in suited if name in value] if named else suited
        elif option.kind == "facts":
            st.session_state[place] = [name for name, _ in value]
            st.session_state.update({f"{place}-{name}": code for name, code in value})
        elif option.kind == "conditions":
            st.session_state[f"{place}-conditions"] = list(value)
        elif option.kind == "weights":
            _weights(place, values["columns"], value, domain)
        elif option.kind == "statistics":
            st.session_state[place] = [statistic[0] for statistic in value]
            st.session_state.update({f"{place}-top": statistic[1] for statistic in value if statistic[0] == "top"})
        else:
            st.session_state[place] = float(value) if option.kind == "real" else value


def _weights(key: str, columns: Sequence[str], weights: Sequence[Sequence[int]], domain: Domain) -> None:
    """The grid of weights: what it showed last is what it starts from."""
    st.session_state[f"{key}-questions"] = len(weights)
    grid = f"{key}-{len(weights)}-{'-'.join(columns)}"
    frame: pd.DataFrame = editors.rising(domain, tuple(columns), len(weights))
    for place, line in enumerate(weights):
        frame[f"Weight {place + 1}"] = [weight / editors.GRID for weight in line]
    st.session_state[f"{key}-grids"] = {f"{grid}-latest": frame}
    st.session_state.pop(grid, None)


def _pick(key: str, name: str) -> None:
    """Pick the mechanism, also in a list that is on the page already."""
    st.session_state[key] = name
    for other in [str(found) for found in st.session_state if str(found).startswith(f"{key}-")]:
        st.session_state[other] = name
