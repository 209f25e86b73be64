from __future__ import annotations

import numpy as np

from core.mechanisms.tree.compression import Compression, Grouping
from core.models.points import Points
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="x", low=0, high=5), Integers(name="y", low=0, high=2)))
GROUPINGS = {
    "x": Grouping.rare(np.array([50.0, 3.0, 40.0, 0.0, 1.0, 30.0]), 5.0),
    "y": Grouping.rare(np.array([9.0, 9.0, 1.0]), 5.0),
}
COMPRESSION = Compression(DOMAIN, GROUPINGS)


def test_rare_values_share_the_last_group_and_a_single_one_stays():
    assert GROUPINGS["x"].groups.tolist() == [0, 3, 1, 3, 3, 2]
    assert np.allclose(GROUPINGS["x"].inside, [1, 0.75, 1, 0, 0.25, 1])
    assert GROUPINGS["y"].trivial
    assert Grouping.rare(np.zeros(4), 1.0).inside.tolist() == [0.25] * 4


def test_expanding_keeps_group_counts():
    table = np.random.default_rng(1).random((4, 3))
    wide = COMPRESSION.expanded(table, ("x", "y"))
    assert np.allclose(COMPRESSION.merged(wide, ("x", "y")), table)
    assert np.allclose(wide[1], 0.75 * table[3])


def test_decoded_points_give_each_cell_its_share_of_the_weight():
    generator = np.random.default_rng(2)
    codes = np.stack([generator.integers(0, 4, 5_000), generator.integers(0, 3, 5_000)], axis=1)
    points = Points(COMPRESSION.domain, codes, generator.random(5_000))
    more = Domain((*COMPRESSION.domain, Integers(name="more", low=0, high=0)))
    wide = COMPRESSION.decoded(Points(more, np.pad(codes, ((0, 0), (0, 1))), points.weights), generator)
    assert wide.domain == DOMAIN and wide.codes.shape == codes.shape
    decoded = COMPRESSION.decoded(points, generator)
    expected = COMPRESSION.expanded(points.marginal(("x",)), ("x",))
    assert np.allclose(decoded.marginal(("x",)), expected, atol=1.0)
    assert np.allclose(decoded.marginal(("y",)), points.marginal(("y",)))
