"""What a schema amounts to: how many records are possible, what that means, and which columns will be useless."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import streamlit as st

from core.base.wording import amount, plural
from core.models.histogram import MOST_CELLS
from core.schema.attributes import Attribute, Categories
from core.schema.domain import Domain
from core.schema.guesses import like_id
from dashboard.views.common import messages
from dashboard.views.data import schema_grid

MOST_NAMED = 3
WELL_COUNTED = 2**14
"""Combinations up to which counts of each one are more than noise in tables of ordinary length."""
MOST_USEFUL = 100_000
"""Cells of one column that a table of ordinary length could fill."""


def show(domain: Domain, id_column: str | None) -> None:
    """The size in one sentence, and one warning per useless column."""
    messages.note(size(domain), "public")
    for attribute in domain:
        for problem in doubts(attribute, id_column):
            st.warning(f"Column '{messages.plain(attribute.name)}' {problem}", icon=":material/warning:")


def digits(frame: pd.DataFrame) -> None:
    """Real numbers that would be released with more digits than anybody knows."""
    if columns := schema_grid.endless(frame):
        named = ", ".join(f"'{messages.plain(name)}'" for name in columns[:MOST_NAMED])
        more = f" and {amount(len(columns) - MOST_NAMED)} more" if columns[MOST_NAMED:] else ""
        told = f"Released values of {named}{more} will have some 15 digits; set decimals, or press 'Propose bins'."
        messages.note(told, "public")


def size(domain: Domain) -> str:
    """
    >>> size(Domain.from_list([{"name": "ill", "kind": "booleans"}]))
    '1 column; a record is one of 2 possible combinations: small enough to count each one, as a histogram does.'
    """
    cells = domain.cells()
    if cells <= WELL_COUNTED:
        meaning = "small enough to count each one, as a histogram does"
    elif cells <= MOST_CELLS:
        meaning = (
            "each could be counted, but counts would be mostly noise; tables over a few columns at a time tell more"
        )
    else:
        meaning = "too many to count each one, so a release describes tables over a few columns at a time"
    return f"{plural(len(domain), 'column')}; a record is one of {amount(cells)} possible combinations: {meaning}."


def doubts(attribute: Attribute, id_column: str | None) -> Iterator[str]:
    """Why a release would say little about a column, or more than it should."""
    if attribute.size == 1:
        yield "has one cell only: a release says nothing about it."
    elif isinstance(attribute, Categories) and attribute.regular == 1:
        yield "lists one category only: a release says nothing more about it than how many rows have that one."
    if attribute.size > MOST_USEFUL:
        yield (
            f"has {amount(attribute.size)} cells, more than most tables have rows: nearly every count will be noise; "
            "use bins or fewer categories."
        )
    if attribute.name == id_column:
        yield "holds the ids, so invented ids would be released; untick it unless you want that."
    elif like_id(attribute.name):
        yield "is named like an id: each value belongs to one person, so nothing useful can be released; untick it."
