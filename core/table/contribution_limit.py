"""How many rows of one owner stay: the bound on what anybody contributes to a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def keep_smallest(owners: NDArray[np.intp], keys: NDArray[np.uint64], limit: int) -> NDArray[np.intp]:
    """Rows that stay when each owner keeps the `limit` rows with the smallest keys; owner -1 keeps none.

    With independent uniform keys each owner's kept rows are a uniformly random subset, chosen without looking at any
    other owner's rows, so adding or removing one owner changes only that owner's rows.
    """
    order = np.lexsort((keys, owners))
    sorted_owners = owners[order]
    starts = np.flatnonzero(np.r_[True, sorted_owners[1:] != sorted_owners[:-1]]) if len(order) else order
    ranks = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return np.sort(order[(ranks < limit) & (sorted_owners >= 0)])
