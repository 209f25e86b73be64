"""Questions written as formulas over the public schema, such as `age >= 65 and region in {north, east}`.

Every question that is typed or clicked passes through `question`; the grammar is in `core.formulas.grammar`. Nothing
here sees data: a formula is turned into weights over the cells of the columns it names, and whatever is wrong with it
is one sentence before anything is spent. A missing value fulfils no comparison; a negation is the exact complement.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import Columns, Flags
from core.base.errors import printable
from core.base.wording import amount
from core.formulas.grammar import parse
from core.formulas.sums import WeightedSum
from core.formulas.syntax import Node, holds, leaves, spelled
from core.formulas.tokens import MOST_CHARACTERS, wrong
from core.formulas.writing import cell_text, halfspace_text, interval_text
from core.kernel.query import Query
from core.schema.domain import Domain

__all__ = ["MOST_CELLS", "canonical", "cell_text", "halfspace_text", "interval_text", "question"]

NOTHING = "no possible record fulfils this condition, so that its answer is 0 and need not be asked."
MOST_CELLS = 2**22
"""Combinations of the columns that one formula may name: 32 MB of weights."""
MOST_LAID_OUT = 2**23
"""Combinations that all its conditions together may lay out: half a second of work on a small server."""


def question(text: str, domain: Domain) -> Query:
    """The share of rows that fulfil a formula.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99, bins=10), Booleans(name="ill")))
    >>> found = question("ill and not age < 80", people)
    >>> found.words, found.columns, int(found.weights.sum())
    ('share of rows with ill = true and age at least 80', ('age', 'ill'), 2)
    """
    return query_of(parse(text, domain), domain)


def query_of(node: Node, domain: Domain) -> Query:
    """The share of rows that fulfil a condition."""
    columns, fulfilled = laid_out(node, domain)
    if not fulfilled.any():
        raise wrong(NOTHING)
    return Query(
        columns=columns, weights=fulfilled.astype(np.int64), words=f"share of rows with {in_words(node, domain)}"
    )


def laid_out(node: Node | None, domain: Domain, also: Columns = ()) -> tuple[Columns, Flags]:
    """The columns that a condition names, and others, with its truth for each of their cells; none is always true."""
    named = {column for leaf in leaves(node) for column in leaf.columns} if node is not None else set()
    columns = tuple(name for name in domain.names if name in named or name in also)
    _check_size(domain, columns)
    _check_work(domain, [leaf.columns for leaf in leaves(node)] if node is not None else [], columns)
    fulfilled = np.ones((), dtype=np.bool_) if node is None else holds(node, domain, columns)
    return columns, np.broadcast_to(fulfilled, domain.shape(columns))


def in_words(node: Node, domain: Domain) -> str:
    words = spelled(node, lambda condition, denied: condition.words(domain, denied))
    middles = ", each bin taken at its middle" if any(isinstance(leaf, WeightedSum) for leaf in leaves(node)) else ""
    return words + middles


def canonical(text: str, domain: Domain) -> str:
    """The same question in the one way this program writes it.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99), Booleans(name="ill")))
    >>> canonical("(age>64) AND NOT ill=yes", people)
    'age >= 65 and ill != true'
    """
    return written_out(parse(text, domain), domain)


def written_out(node: Node, domain: Domain) -> str:
    written = spelled(node, lambda condition, denied: condition.text(domain, denied))
    if len(written) > MOST_CHARACTERS:
        raise wrong(f"has {len(written):,} characters when written out; use at most {MOST_CHARACTERS:,}.")
    return written


def _check_size(domain: Domain, columns: Columns) -> None:
    if (cells := domain.cells(columns)) > MOST_CELLS:
        listed = ", ".join(printable(column, 30) for column in columns[:10]) + (", …" if len(columns) > 10 else "")
        raise wrong(
            f"the columns {listed} have {amount(cells)} combinations and at most {amount(MOST_CELLS)} are held; "
            "use fewer columns or coarser bins."
        )


def _check_work(domain: Domain, conditions: Sequence[Columns], columns: Columns) -> None:
    """Refuse, before anything is laid out, many conditions that are large each.

    Joining two of them is a pass over bytes, an eighth of laying one out in numbers.
    """
    joining = (len(conditions) - 1) * domain.cells(columns) // 8
    if sum(domain.cells(named) for named in conditions) + joining > MOST_LAID_OUT:
        raise wrong(
            f"its {len(conditions)} conditions lay out more than {amount(MOST_LAID_OUT)} combinations together; "
            "use fewer conditions, columns or bins."
        )
