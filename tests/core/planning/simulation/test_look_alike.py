"""Invented tables look like real ones: skewed columns that depend on each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.planning.simulation import look_alike as look_alike_module
from core.planning.simulation.look_alike import FINE, KINDS, MOST_CROWDED, look_alike
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers, Reals
from core.table.stand_in import StandIn
from tests.core.schemas import SCHEMAS

DOMAIN = Domain(
    (
        Categories(name="job", values=tuple("abcdefgh"), other="else", missing=True),
        Integers(name="age", low=0, high=99, bins=20),
        Reals(name="pay", low=0.0, high=1.0, bins=30),
        Booleans(name="ill", missing=True),
        Categories(name="town", values=tuple("klmnop")),
    )
)


def made(place: int = 0, rows: int = 4_000, **options: object) -> StandIn:
    return look_alike(DOMAIN, Unit.row(), rows, np.random.default_rng(3), place=place, **options)


def information(table: StandIn) -> float:
    """Mean mutual information of the pairs, in nats."""
    found = []
    for pair in combinations(table.domain.names, 2):
        joint = table.marginal(pair) / len(table.codes)
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        found.append((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
    return float(np.mean(found))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_schema_has_look_alikes(schema: str) -> None:
    domain = SCHEMAS[schema]
    for place in range(3):
        table = look_alike(domain, Unit.row(), 200, np.random.default_rng(place), place=place)
        assert table.codes.shape == (200, len(domain))
        assert (table.codes >= 0).all() and (table.codes < np.array(domain.sizes)).all()


def test_columns_are_skewed() -> None:
    tables = [made(place) for place in range(6)]
    largest = [table.marginal(("town",)).max() / len(table.codes) for table in tables]
    assert np.mean(largest) > 2 / 6


def test_columns_depend_on_each_other_as_strongly_as_the_place_says() -> None:
    strengths = [kind.strength for kind in KINDS]
    strong, weak = strengths.index(max(strengths)), strengths.index(min(strengths))

    def mean(place: int) -> float:
        tables = [look_alike(DOMAIN, Unit.row(), 2_000, np.random.default_rng(seed), place=place) for seed in range(12)]
        return float(np.mean([information(table) for table in tables]))

    assert mean(strong) > 1.5 * mean(weak)
    mixed = made(strong)
    generator = np.random.default_rng(0)
    shuffled = np.stack([generator.permutation(column) for column in mixed.codes.T], axis=1)
    assert information(mixed) > 3 * information(StandIn(mixed.domain, shuffled, mixed.unit))


def test_few_combinations_occur_where_rows_are_copies() -> None:
    plain = Domain(tuple(Integers(name=name, low=0, high=FINE - 1) for name in "abcdefg"))

    def occurring(place: int) -> float:
        table = look_alike(plain, Unit.row(), 3_000, np.random.default_rng(5), place=place)
        return len(np.unique(table.codes, axis=0)) / len(table.codes)

    for place, kind in enumerate(KINDS):
        assert occurring(place) > 0.6 or kind.copied
        assert occurring(place) < 1.1 - 0.8 * kind.copied


def test_the_more_steps_a_column_has_the_likelier_most_rows_crowd_in_few_of_them() -> None:
    def crowded(size: int) -> float:
        """The part of the columns with half their rows in the first sixteenth of the steps."""
        columns = Domain(tuple(Integers(name=f"c{place}", low=0, high=size - 1) for place in range(30)))
        tables = [look_alike(columns, Unit.row(), 500, np.random.default_rng(7), place=place) for place in range(4)]
        return float(np.mean([np.median(table.codes, axis=0) < size / 16 for table in tables]))

    coarse, fine, finest = crowded(FINE), crowded(4 * FINE), crowded(256 * FINE)
    assert coarse + 0.2 < fine < finest < MOST_CROWDED + 0.15


def test_a_sketch_is_met() -> None:
    weights = (0, 0, 5, 0, 3, 2)
    seen = made(sketch={"town": weights}).marginal(("town",))
    assert np.abs(seen / seen.sum() - np.array(weights) / 10).max() < 0.01


@pytest.mark.parametrize("weights", [(1, 2), (0,) * 6, (-1, 1, 1, 1, 1, 1), (float("nan"), 1, 1, 1, 1, 1)])
def test_a_bad_sketch_is_named(weights: tuple[float, ...]) -> None:
    with pytest.raises(BadParameter, match="'town' needs 6 weights"):
        made(sketch={"town": weights})


def test_a_yes_or_no_is_common_in_some_tables_and_rare_in_others():
    domain = Domain((Booleans(name="ill"),))
    seldom = []
    for place in range(4 * len(KINDS)):
        counts = look_alike(domain, Unit.row(), 4_000, np.random.default_rng(place), place=place).marginal(("ill",))
        seldom.append(counts.min() / counts.sum())
    assert min(seldom) < 0.05 and max(seldom) > 0.35
    assert 0.1 < np.median(seldom) < 0.4


def test_wide_columns_are_drawn_as_narrow_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Group by group the shares are those of single rows, but for the rounded factors and the luck of 20,000 rows."""
    many = Domain((Categories(name="code", values=tuple(range(300))),))

    def shares() -> np.ndarray:
        return look_alike(many, Unit.row(), 20_000, np.random.default_rng(5)).marginal(["code"]) / 20_000

    narrow = shares()
    monkeypatch.setattr(look_alike_module, "WIDE", 10)
    wide = shares()
    assert np.abs(narrow - wide).sum() / 2 < 0.08
    assert np.abs(narrow - np.roll(wide, 1)).sum() / 2 > 0.3, "the comparison can fail"
