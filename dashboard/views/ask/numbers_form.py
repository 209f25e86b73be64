"""Composing numbers by group by clicking: counts, means, sums, medians and quantiles. It writes the SELECT itself."""

from __future__ import annotations

import streamlit as st

from core.schema.domain import Categories, Domain
from dashboard.views.common import messages

NUMBERS = {"AVG": "Mean", "MEDIAN": "Median", "QUANTILE": "Quantile", "SUM": "Sum", "COUNT": "Number of rows"}


def compose(domain: Domain, key: str) -> str | None:
    """The statement; None while something is missing."""
    numeric = [attribute.name for attribute in domain if attribute.numeric]
    offered = list(NUMBERS) if numeric else ["COUNT"]
    first, second, third = st.columns(3)
    number = first.selectbox("Number", offered, format_func=NUMBERS.__getitem__, key=f"number-{key}")
    column = share = None
    if number != "COUNT":
        column = second.selectbox("Of column", numeric, key=f"number-of-{key}")
    if number == "QUANTILE":
        share = third.number_input("Share of rows below, in %", 1, 99, 90, key=f"number-share-{key}")
    likely = [attribute.name for attribute in domain if isinstance(attribute, Categories)][:1]
    groups = st.multiselect(
        "By group", [name for name in domain.names if name != column], default=likely, key=f"number-by-{key}",
        help="One number for each combination of their values; none means all rows together.",
    )  # fmt: skip
    text = st.text_input("Only rows with", key=f"number-where-{key}", placeholder="age >= 65 and region = north")
    statement = written(number, column, share, [name for name in domain.names if name in groups], text)
    # Without colours: those of SQL are too pale on a light page to be read by everybody.
    st.code(statement, language=None, wrap_lines=True)
    messages.note("This is what is asked; it can be changed under 'A formula or SQL'.", "public")
    return statement


def written(number: str, column: str | None, share: int | None, groups: list[str], condition: str = "") -> str:
    """A SELECT of one number, by group where there are any.

    >>> written("QUANTILE", "age", 90, ["home town"], "ill = true")
    'SELECT "home town", QUANTILE("age", 0.9) FROM t WHERE ill = true GROUP BY "home town"'
    >>> written("COUNT", None, None, [])
    'SELECT COUNT(*) FROM t'
    """
    inside = "*" if column is None else _quoted(column) + ("" if share is None else f", {share / 100:g}")
    names = [_quoted(name) for name in groups]
    parts = [f"SELECT {', '.join([*names, f'{number}({inside})'])} FROM t"]
    parts += [f"WHERE {condition.strip()}"] if condition.strip() else []
    parts += [f"GROUP BY {', '.join(names)}"] if names else []
    return " ".join(parts)


def _quoted(name: str) -> str:
    """A column in quotes, whatever it is called: also 'count' or 'from'."""
    return '"' + name.replace('"', '""') + '"'
