"""Classes typed as formulas: their dimension against the definition, on random classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.formulas import formula_class as module
from core.formulas.formula_class import formula_class
from core.schema.domain import Booleans, Categories, Domain, Integers

DOMAIN = Domain(
    (Integers(name="age", low=0, high=9), Booleans(name="ill"), Categories(name="town", values=tuple("ab")))
)
LETTERS = Domain((Categories(name="letter", values=tuple("abcdef")),))


def brute_force(marks: np.ndarray) -> int:
    """The definition of Vapnik and Chervonenkis: the largest set of columns on which every pattern occurs."""
    return max(
        size
        for size in range(marks.shape[1] + 1)
        for columns in combinations(range(marks.shape[1]), size)
        if len({tuple(line) for line in marks[:, columns]}) == 2**size
    )


@pytest.mark.exhaustive
def test_the_search_agrees_with_the_definition_on_random_classes(monkeypatch):
    """200 random classes of sets of letters; the bounds from sizes alone never contradict the exact dimension."""
    generator = np.random.default_rng()
    for _ in range(200):
        marks = generator.integers(0, 2, (int(generator.integers(1, 13)), 6)).astype(bool)
        marks[~marks.any(axis=1), 0] = True  # an empty list is no formula
        texts = ["letter in {" + ", ".join(np.array(list("abcdef"))[line]) + "}" for line in marks]
        exact = brute_force(marks)
        found = formula_class(texts, LETTERS).vc
        assert found.exact and found.low == exact
        with monkeypatch.context() as patched:
            patched.setattr(module, "MOST_MARKS", 0)
            bounds = formula_class(texts, LETTERS).vc
        assert bounds.low <= exact <= bounds.high and "too many to search" in bounds.why


def test_thresholds_and_intervals_have_their_dimensions():
    assert formula_class([f"age >= {low}" for low in range(1, 10)], DOMAIN).vc.high == 1
    ranges = [f"age >= {low} and age <= {high}" for low in range(10) for high in range(low, 10)]
    found = formula_class([*ranges, "", "  "], DOMAIN)
    assert found.vc.exact and found.vc.high == 2
    assert (found.formulas, found.columns, found.cells) == (55, ("age",), 10)


def test_formulas_over_different_columns_meet_on_all_of_them():
    found = formula_class(["ill", "town = a", "ill and town = a", "age < 5"], DOMAIN)
    assert found.columns == ("age", "ill", "town") and found.vc.exact


@pytest.mark.parametrize(
    ("texts", "said"),
    [([" "], "at least one"), (["ill"] * 201, "at most 200"), (["ill", "height > 3"], "height")],
)
def test_what_cannot_be_read_is_one_sentence(texts, said):
    with pytest.raises(BadParameter, match=said):
        formula_class(texts, DOMAIN)
