"""Questions written as formulas over the public schema, such as `age >= 65 and region in {north, east}`.

Every question that is typed or clicked passes through `question`; the grammar is in `core.formulas.grammar`. Nothing
here sees data: a formula is turned into weights over the cells of the columns it names, and whatever is wrong with it
is one sentence before anything is spent. A missing value fulfils no comparison; a negation is the exact complement.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import Columns
from core.base.errors import printable
from core.base.wording import amount
from core.formulas.grammar import parse
from core.formulas.sums import WeightedSum
from core.formulas.syntax import holds, leaves, spelled
from core.formulas.tokens import MOST_CHARACTERS, wrong
from core.formulas.writing import cell_text, halfspace_text, interval_text
from core.kernel.query import Query
from core.schema.domain import Domain

__all__ = ["MOST_CELLS", "canonical", "cell_text", "halfspace_text", "interval_text", "question"]

MOST_CELLS = 2**22
"""Combinations of the columns that one formula may name: 32 MB of weights."""


def question(text: str, domain: Domain) -> Query:
    """The share of rows that fulfil a formula.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99, bins=10), Booleans(name="ill")))
    >>> found = question("ill and not age < 80", people)
    >>> found.words, found.columns, int(found.weights.sum())
    ('share of rows with ill = true and age at least 80', ('age', 'ill'), 2)
    """
    node = parse(text, domain)
    named = {column for leaf in leaves(node) for column in leaf.columns}
    columns = tuple(name for name in domain.names if name in named)
    _check_size(domain, columns)
    fulfilled = holds(node, domain, columns)
    if not fulfilled.any():
        raise wrong("no possible record fulfils this condition, so that its answer is 0 and need not be asked.")
    words = spelled(node, lambda condition, denied: condition.words(domain, denied))
    middles = ", each bin taken at its middle" if any(isinstance(leaf, WeightedSum) for leaf in leaves(node)) else ""
    weights = np.broadcast_to(fulfilled, domain.shape(columns)).astype(np.int64)
    return Query(columns=columns, weights=weights, words=f"share of rows with {words}{middles}")


def canonical(text: str, domain: Domain) -> str:
    """The same question in the one way this program writes it.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99), Booleans(name="ill")))
    >>> canonical("(age>64) AND NOT ill=yes", people)
    'age >= 65 and ill != true'
    """
    written = spelled(parse(text, domain), lambda condition, denied: condition.text(domain, denied))
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
