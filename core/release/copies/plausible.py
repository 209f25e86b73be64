"""Tables that the private one may be: records of a release with dependences that its mechanism may have missed.

A mechanism that measures some pairs of columns leaves others as its model has them, and says by how many rows those
were found to be off (`Tables.missed`, noisy and public). A plausible table has a dependence in each such pair, in a
direction that is drawn at random: some records get their values of one column again in the order, or in the opposite
order, of the other. They are so many that a correlation moves as by a weak dependence of all records that puts the
missed rows into wrong cells. All counts of single columns stay. Everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from core.base.arrays import Codes, Columns, IntArray
from core.models.protocol import Model
from core.models.tables import Tables
from core.schema.domain import Domain

NORMAL = 2 / math.pi
"""Rows off for each record and each part of a weak correlation: the mean of |x y| of independent normal numbers.
Of two yes/no columns with even shares it is 1."""


def plausible(released: Model, codes: Codes, generator: np.random.Generator) -> Codes:
    """Records of a released model, some of them changed so that they depend on each other as those of the table may."""
    missed = released.missed if isinstance(released, Tables) else {}
    return with_dependences(released.domain, codes, missed, generator)


def with_dependences(
    domain: Domain, codes: Codes, missed: Mapping[Columns, float], generator: np.random.Generator
) -> Codes:
    """The records with a dependence of so many rows in each of these pairs, one after the other in random order."""
    changed = np.array(codes, dtype=np.int64)
    pairs = list(missed)
    for place in generator.permutation(len(pairs)):
        one, two = generator.permutation(pairs[place])
        each = 1.0 if max(domain[one].size, domain[two].size) == 2 else NORMAL
        number = min(round(missed[pairs[place]] / each), len(changed))
        chosen = generator.choice(len(changed), number, replace=False)
        left, right = (domain.names.index(name) for name in (one, two))
        order = np.argsort(_ranks(domain, one, changed[chosen, left], generator), kind="stable")
        values = changed[chosen, right]
        changed[chosen[order], right] = values[np.argsort(_ranks(domain, two, values, generator), kind="stable")]
    return changed


def _ranks(domain: Domain, name: str, values: IntArray, generator: np.random.Generator) -> IntArray:
    """A rank for every value: an ordered column rises or falls, the values of another have any order."""
    size = domain[name].size
    if domain[name].ordered:
        return values if generator.random() < 0.5 else size - values
    return np.asarray(generator.permutation(size)[values])
