"""Values inside cells: they fulfil comparisons, stay in their cells, and keep their types."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.rules.rule_set import rules_of
from core.rules.values import Values, with_values
from core.schema.domain import Domain, Integers, Reals
from tests.core.rules.households import IMPOSSIBLE, ORDER, SUM, any_codes, households


def drawn(domain: Domain, codes: np.ndarray) -> pd.DataFrame:
    generator = np.random.default_rng(2)
    return with_values(domain.decode(codes, generator), Values.of(rules_of(domain)), codes, generator)


def encoded(domain: Domain, frame: pd.DataFrame) -> np.ndarray:
    return np.stack([domain[name].encode(frame[name])[0] for name in domain.names], axis=1)


def test_orders_and_sums_hold_for_the_values_themselves():
    domain = households(ORDER, SUM, "benefits >= wages")
    rules, codes = rules_of(domain), any_codes(4_000)
    codes = codes[rules.lawful(codes)]
    codes = codes[Values.of(rules).exist(codes)]
    assert len(codes) > 100
    frame = drawn(domain, codes)
    assert (frame["discharge"].isna() | (frame["discharge"] >= frame["admission"])).all()
    assert np.allclose(frame["total"], frame["wages"] + frame["benefits"], atol=1e-9)
    assert (frame["benefits"] >= frame["wages"]).all()
    assert (encoded(domain, frame) == codes).all()
    assert frame.dtypes.equals(domain.decode(codes, np.random.default_rng(1)).dtypes)


def test_values_in_one_cell_are_spread():
    domain = Domain(
        (Integers(name="a", low=0, high=99, bins=1), Integers(name="b", low=0, high=99, bins=1)), ("a < b",)
    )
    frame = drawn(domain, np.zeros((2_000, 2), dtype=np.int64))
    assert (frame["a"] < frame["b"]).all() and frame["a"].nunique() > 50 and frame["b"].nunique() > 50


def test_rounding_does_not_move_a_value_into_a_cell_that_a_rule_forbids():
    columns = Reals(name="bmi", low=10, high=60, bins=20, decimals=0), Integers(name="age", low=0, high=9)
    domain = Domain(columns, ("never: bmi >= 12.5 and age < 5",))
    codes = np.zeros((3_000, 2), dtype=np.int64)
    frame = drawn(domain, codes)
    assert (encoded(domain, frame) == codes).all() and set(frame["bmi"]) == {10.0, 11.0, 12.0}
    plain = domain.decode(codes, np.random.default_rng(1))
    assert (encoded(domain, plain) == codes).all()


def test_cells_without_such_values_are_told():
    columns = tuple(Integers(name=name, low=0, high=9, bins=2) for name in "abc")
    rules = rules_of(Domain(columns, ("a < b", "b < c", "c = a + 2")))
    codes = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 0], [1, 1, 1]])
    assert Values.of(rules).exist(codes).tolist() == [True, True, False, True]


def test_without_comparisons_records_stay_as_they_are():
    domain, codes = households(IMPOSSIBLE), any_codes(5)
    frame = domain.decode(codes, np.random.default_rng(1))
    assert with_values(frame, Values.of(rules_of(domain)), codes, np.random.default_rng(1)) is frame
