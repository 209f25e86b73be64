from __future__ import annotations

import numpy as np

from core.mechanisms.tree.coarse import BINS, PARTS, Views, coarse_sums, equal_mass, few_parts, neighbours
from core.mechanisms.tree.compression import Compression, Grouping
from core.models.points import Points
from core.schema.domain import Categories, Domain, Integers
from core.table.counts import Cells
from core.table.views import Recoded

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=39),
        Categories(name="code", values=tuple(range(30))),
        Integers(name="age in bins", low=0, high=3),
    )
)
COUNTS = np.random.default_rng(0).integers(0, 5, DOMAIN.shape())
ONES = {
    name: COUNTS.sum(axis=tuple(other for other in range(3) if other != axis)).astype(float)
    for axis, name in enumerate(DOMAIN.names)
}


def views() -> tuple[Views, Recoded]:
    """Coarse views, and the table as the kernel sees it through them."""
    groupings = {name: Grouping.rare(counts, 0.0) for name, counts in ONES.items()}
    groupings["age"] = Grouping.rare(ONES["age"], float(np.median(ONES["age"])))
    shares = {name: groupings[name].merged(counts, 0).astype(float) for name, counts in ONES.items()}
    made = Views.of(Compression(DOMAIN, groupings), shares)
    return made, Recoded(Cells(DOMAIN, COUNTS), made.domain, made.recodings())


def test_only_large_ordered_columns_have_a_view_under_a_free_name():
    made, _ = views()
    assert dict(made.sources) == {"age in bins'": "age"}
    assert made.domain.names == (*DOMAIN.names, "age in bins'")
    assert made.pairs({("age", "code"): 2.0, ("code", "age in bins"): 1.0}) == {("age in bins'", "code"): 2.0}


def test_parts_are_views_of_every_column_and_of_no_pair_that_is_scored():
    groupings = {name: Grouping.rare(counts, 0.0) for name, counts in ONES.items()}
    made = Views.of(Compression(DOMAIN, groupings), ONES, coarsest=True)
    assert set(made.coarsest) == {name for name in DOMAIN.names if DOMAIN[name].size > 1}
    assert {name: made.domain[view].size for name, view in made.coarsest.items()} == {
        "age": PARTS,
        "code": 2,
        "age in bins": PARTS,
    }
    assert made.coarsest["age in bins"] == "age in bins", "a column of as many groups is its own view"
    assert made.ordered == {"age", "age in bins", "age in bins'", made.coarsest["age"]}
    assert not views()[0].ordered
    pair = ("age", "code")
    assert made.in_parts([pair]) == [(made.coarsest["age"], made.coarsest["code"])]
    assert made.pairs({pair: 2.0}) == {("age in bins'", "code"): 2.0}
    assert (np.diff(made.bins[made.coarsest["age"]]) >= 0).all()


def test_thin_ends_of_an_order_have_parts_of_their_own():
    """Half of the rows lie in the first of 40 cells, the others are spread evenly."""
    shares = np.array([0.5, *[0.5 / 39] * 39])
    assert np.bincount(few_parts(shares, ordered=True)).tolist() == [1, 13, 13, 13]
    assert np.bincount(neighbours(shares, PARTS)).tolist() == [1, 19, 20]
    assert few_parts(shares, ordered=False).tolist() == [0, *[1] * 39]
    assert few_parts(np.zeros(8), ordered=True).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_sums_over_parts_have_the_noise_of_sums():
    tables = {("x", "y"): np.arange(24.0).reshape(8, 3) - 3, ("x",): np.ones(8)}
    found = coarse_sums(tables, {("x", "y"): 2.0, ("x",): 1.0}, {"x"})
    assert set(found) == {("x", "y")}
    sums = found["x", "y"]
    assert sums.target.shape == (PARTS, 3) and sums.groups is not None
    assert np.array_equal(sums.target, sums.groups.merged(tables["x", "y"]))
    assert np.allclose(np.square(sums.sigma).sum(), 24 * 2.0**2)
    assert not coarse_sums(tables, {("x", "y"): 2.0, ("x",): 1.0}, ())


def test_bins_are_contiguous_and_of_about_equal_mass():
    shares = np.random.default_rng(1).random(60)
    bins = equal_mass(shares)
    assert (np.diff(bins) >= 0).all() and bins.max() == BINS - 1
    masses = np.bincount(bins, weights=shares) / shares.sum()
    assert masses.min() > 0.5 / BINS and masses.max() < 1.6 / BINS
    assert equal_mass(np.zeros(20)).max() == BINS - 1


def test_counts_and_records_agree_on_what_a_bin_is():
    made, seen = views()
    merged = made.compression.domain
    fine = seen.marginal(("age", "code"))
    assert fine.shape == merged.shape(("age", "code")) and fine.shape[0] < DOMAIN["age"].size
    table = seen.marginal(("age in bins'", "code"))
    assert table.shape == made.domain.shape(("age in bins'", "code")) and table.sum() == COUNTS.sum()
    for place, counts in enumerate(table):
        assert np.array_equal(counts, fine[made.bins["age in bins'"] == place].sum(axis=0))
    codes, weights = seen.combinations(merged.names)
    points = made.points(Points(merged, codes, weights.astype(float)))
    assert np.array_equal(points.marginal(("age in bins'", "code")), table)
