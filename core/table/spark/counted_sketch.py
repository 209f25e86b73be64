"""By what a table whose rows stay on the cluster is recognised: counts of columns whose values its schema names.

Nothing comes to the desk for it but counts that the desk could ask for anyway. They tell what the counts in the sketch
of an embedded table tell, so the same rows share a budget whatever engine read them and however they were stored. Whole
tables only: finding some rows of one among those of another takes hashes of rows, which stay where the rows are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.schema.attributes import Attribute, Booleans, Categories
from core.schema.ordered import Dates, Integers
from core.table.counts import Counts, prepare
from core.table.same_rows import FEW, RowSketch


def counted_sketch(table: Counts, misfits: Mapping[str, int], rows: int, key: str) -> RowSketch:
    """The sketch of a table that dropped no row; only sketches with the same key can be compared."""
    names = [each.name for each in table.domain if _told(each) and not misfits[each.name]]
    prepare(table, [(name,) for name in names])
    found = {name: _values(table.domain[name], table.marginal((name,))) for name in names}
    return RowSketch.of_counts(found, rows, key)


def _told(attribute: Attribute) -> bool:
    """Whether a cell says what stood in the table, provided that no rule had to change it."""
    if isinstance(attribute, Integers | Dates):
        return attribute.size <= FEW and bool((np.diff(attribute.edges) == 1).all())
    return isinstance(attribute, Categories | Booleans) and attribute.size <= FEW


def _values(attribute: Attribute, counts: np.ndarray) -> dict[object, int]:
    """How often each value occurs; None stands for a cell that was empty."""
    named = np.arange(attribute.regular)
    values: list[object] = attribute.decode(named).tolist()
    often: dict[object, int] = dict(zip(values, counts[named].tolist(), strict=True))
    # 'other' has no rows where nothing misfits, so what is left is 'missing'
    return {**often, None: int(counts[attribute.regular :].sum())}
