"""How many rows of one owner stay: the bound on what anybody contributes to a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def keep_smallest(owners: NDArray[np.intp], keys: NDArray[np.uint64], limit: int) -> NDArray[np.intp]:
    """Rows that stay when each owner keeps the `limit` rows with the smallest keys; owner -1 keeps none.

    With independent uniform keys each owner's kept rows are a uniformly random subset, chosen without looking at any
    other owner's rows, so adding or removing one owner changes only that owner's rows.
    """
    order = _ordered(owners, keys)
    sorted_owners = owners[order]
    starts = np.flatnonzero(np.r_[True, sorted_owners[1:] != sorted_owners[:-1]]) if len(order) else order
    ranks = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return np.sort(order[(ranks < limit) & (sorted_owners >= 0)])


def _ordered(owners: NDArray[np.intp], keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Rows by owner, and by key within each: what `lexsort` gives, in a fifth of its time.

    An owner and the first bits of a key make one number to sort by. Where two rows have the same number, which of them
    comes first is not decided by it, and all are sorted in full.
    """
    bits = int(owners.max(initial=-1) + 1).bit_length()
    joined = keys >> np.uint64(bits)
    if bits:
        joined |= (owners + 1).astype(np.uint64) << np.uint64(64 - bits)
    order = np.argsort(joined)
    ordered = joined[order]
    return np.lexsort((keys, owners)) if (ordered[1:] == ordered[:-1]).any() else order
