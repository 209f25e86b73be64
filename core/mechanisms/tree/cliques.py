"""The tree of cliques: which pairs of columns are worth measuring, and the junction tree that is fitted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from core.base.arrays import Columns, Floats
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.tree.columns import OneWay, slacks
from core.mechanisms.tree.lawfulness import MergedRules, edges_of
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.pairs import MOST_CLIQUE, structured
from core.models.fitting.consistency import settle
from core.models.fitting.structural_zeros import quasi_independent, without_cells
from core.models.fitting.tree_fit import fit_tree
from core.models.fitting.triangulation import Structure, cells_of, join, triangulate
from core.models.junction_tree import JunctionTree
from core.schema.domain import Domain


def measure_pairs(
    measuring: Measuring,
    columns: OneWay,
    rules: MergedRules,
    weights: Mapping[Columns, float],
    scores: Fraction,
    part: Fraction,
) -> tuple[Structure, Noisy]:
    """Score all pairs against independence, and measure those worth most in a tree of cliques.

    Rules and known tables that are small have a clique to themselves from the start.
    """
    domain, power = columns.compression.domain, measuring.spending.power
    shares, ranges = columns.shares(), columns.ranges()
    known = ranges.joined(columns.noisy()).joined(rules.lawfulness.noisy())
    forced = edges_of(rules.forced)
    structure, chosen = join(domain.names, triangulate(_sizes(domain), forced)), []
    if weights:
        pairs = list(weights)
        models = [columns.total * _apart(shares, pair, rules) for pair in pairs]
        candidates = measuring.distances(pairs, weights, models, scores)

        def sigma_of(amounts: Floats) -> Floats:
            return measuring.spending.sigmas(amounts * float(part))

        best, structure = structured(candidates, shares, power, sigma_of, forced)
        chosen = [pairs[index] for index in best]
        if chosen:
            known = measuring.tables(candidates.shares(best, power), part).joined(known)
    if ranges.tables:
        structure = _with_ranges(domain, [*forced, *chosen], list(ranges.tables))
    return structure, known


def _apart(shares: Mapping[str, Floats], pair: Columns, rules: MergedRules) -> Floats:
    """Two columns that have nothing to do with each other, but for cells that cannot occur."""
    left, right = pair
    allowed = rules.allowed(pair)
    if allowed is None:
        return np.multiply.outer(shares[left], shares[right])
    return quasi_independent(shares[left], shares[right], allowed)


def fit_junction_tree(columns: OneWay, structure: Structure, known: Noisy, rules: MergedRules) -> JunctionTree:
    """The tree of maximum entropy within the noise of what was measured, and without the cells that cannot occur.

    Single columns are met more closely than that (`columns.FIRM`).
    """
    start = JunctionTree.independent(columns.compression.domain, columns.total, structure, columns.shares())
    if all(len(names) == 1 for names in known.tables) and not rules.zeros:
        return start
    start = without_cells(start, rules.zeros)
    masks = rules.masks(known.tables)
    settled = settle(known.tables, known.sigmas, columns.total, known.residual, allowed=masks)
    return fit_tree(start, settled, slacks(known))


def _with_ranges(domain: Domain, chosen: Sequence[Columns], more: Sequence[Columns]) -> Structure:
    """A tree of cliques with the chosen pairs, and with further tables as long as its cliques stay small."""
    sizes, kept = _sizes(domain), list(chosen)
    for columns in more:
        if columns not in kept:
            pairs = [*kept, *combinations(columns, 2)]
            if max(cells_of(sizes, clique) for clique in triangulate(sizes, pairs)) <= MOST_CLIQUE:
                kept = pairs
    return join(domain.names, triangulate(sizes, kept))


def _sizes(domain: Domain) -> dict[str, int]:
    return dict(zip(domain.names, domain.sizes, strict=True))
