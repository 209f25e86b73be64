"""Train on synthetic, test on real: what can be learnt is learnt, and noise is seen as noise."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.planning.quality.learning import NEEDED, Lesson, learn
from core.schema.domain import Categories, Domain, Integers

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=39),
        Categories(name="town", values=("a", "b", "c")),
        Categories(name="ill", values=("no", "yes")),
    )
)


def _rows(generator: np.random.Generator, count: int = 600) -> np.ndarray:
    age, town = generator.integers(0, 40, count), generator.integers(0, 3, count)
    ill = (age + 5 * town + generator.integers(-3, 4, count) > 25).astype(np.int64)
    return np.stack([age, town, ill], axis=1)


@pytest.mark.exhaustive
def test_a_release_of_the_same_law_teaches_as_much():
    generator = np.random.default_rng(1)
    lesson = learn(DOMAIN, _rows(generator), _rows(generator), "ill", generator)
    assert lesson.measure == "accuracy"
    assert lesson.real > 0.85 and lesson.synthetic > 0.85
    assert lesson.blind < 0.65
    assert "of what can be learnt is kept" in lesson.sentence()


def test_more_than_all_is_never_kept():
    said = [
        Lesson(target="ill", measure="accuracy", real=0.8, synthetic=synthetic, blind=0.5, rows=500).sentence()
        for synthetic in (0.77, 0.8, 0.83)
    ]
    assert "So 90 % of what" in said[0]
    assert all("So all of what can be learnt is kept" in line for line in said[1:])


def test_noise_teaches_nothing():
    generator = np.random.default_rng(2)
    noise = np.stack([generator.integers(0, size, 600) for size in DOMAIN.sizes], axis=1)
    lesson = learn(DOMAIN, _rows(generator), noise, "ill", generator)
    assert lesson.synthetic < lesson.real - 0.2


def test_a_column_of_numbers_is_predicted_as_a_number():
    generator = np.random.default_rng(3)
    lesson = learn(DOMAIN, _rows(generator), _rows(generator), "age", generator)
    assert lesson.measure == "explained variance"
    assert lesson.synthetic > 0.4
    assert abs(lesson.blind) < 0.05


def test_too_little_is_refused():
    generator = np.random.default_rng(4)
    with pytest.raises(Refused, match="too few rows"):
        learn(DOMAIN, _rows(generator, 60), _rows(generator), "ill", generator)
    with pytest.raises(BadParameter, match="another column"):
        learn(
            DOMAIN.project(["ill"]),
            np.zeros((600, 1), dtype=np.int64),
            np.zeros((600, 1), dtype=np.int64),
            "ill",
            generator,
        )


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    own = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return own(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    generator = np.random.default_rng(5)
    with pytest.raises(Refused, match="release-desk\\[learn\\]"):
        learn(DOMAIN, _rows(generator), _rows(generator), "ill", generator)
    assert "pip install" in NEEDED
