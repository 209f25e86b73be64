"""What does not fit a schema is refused by name, with what would work."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.query import MOST_DENOMINATOR, Query
from core.queries.conjunctions import Conjunctions
from core.queries.counting import Counting, condition
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Booleans, Categories, Domain, Integers
from tests.core.queries.cases import FACTS, NUMBERS, random_cells

LONG = Domain(tuple(Booleans(name=f"b{place}") for place in range(40)))
WIDE = Domain((Integers(name="n", low=0, high=99_999), Integers(name="m", low=0, high=9_999)))
WORDS = Domain((Categories(name="word", values=("x", "y", "z")),))


@pytest.mark.parametrize(
    ("build", "domain", "parameter", "names"),
    [
        (lambda: Counting(conditions=()), FACTS, "conditions", "at least one"),
        (lambda: Counting(conditions="all"), FACTS, "conditions", "list"),
        (lambda: Counting(conditions=((("a", 1),),)), FACTS, "conditions", "list of codes"),
        (lambda: Counting(conditions=((("a", (1.5,)),),)), FACTS, "conditions", "whole"),
        (lambda: Counting(conditions=((("a", (1,)), ("a", (0,))),)), FACTS, "conditions", "once"),
        (lambda: Counting(conditions=((("a", (2,)),),)), FACTS, "conditions", "0 to 1"),
        (lambda: Counting(conditions=((("nobody", (0,)),),)), FACTS, "conditions", "nobody"),
        (lambda: Conjunctions(order=0), FACTS, "order", "at least 1"),
        (lambda: Conjunctions(order=True), FACTS, "order", "whole"),
        (lambda: Conjunctions(order=4), FACTS, "order", "at most 3"),
        (lambda: Conjunctions(order=9), LONG, "order", "at most 3"),
        (lambda: Conjunctions(order=1, columns=("colour",)), FACTS, "columns", "name one of its values"),
        (lambda: Conjunctions(order=1, values=(("colour", 3),)), FACTS, "values", "0 to 2"),
        (lambda: Conjunctions(order=1, columns=("a",), values=(("a", 0),)), FACTS, "values", "once"),
        (lambda: Conjunctions(connective="xor"), FACTS, "connective", "and, or"),
        (lambda: Conjunctions(order=1), WORDS, "columns", "no yes/no column"),
        (lambda: Parities(), LONG, "columns", "at most 20"),
        (lambda: Parities(parity="strange"), FACTS, "parity", "odd, even"),
        (lambda: Parities(values=(("colour",),)), FACTS, "values", "pairs"),
        (lambda: Intervals(column=3), NUMBERS, "column", "name"),
        (lambda: Intervals(column="colour"), NUMBERS, "column", "use one of: x, y, z"),
        (lambda: Intervals(column="colour"), WORDS, "column", "not in the schema"),
        (lambda: Intervals(column="word"), WORDS, "column", "no such column"),
        (lambda: Intervals(column="x", bits=3), NUMBERS, "bits", "at most 2 bits"),
        (lambda: Intervals(column="x", bits=0), NUMBERS, "bits", "at least 1"),
        (lambda: Unions(column="x", parts=0), NUMBERS, "parts", "at least 1"),
        (lambda: Unions(column="x", parts=4), NUMBERS, "parts", "at most 3"),
        (lambda: Unions(column="colour"), NUMBERS, "column", "no order"),
        (lambda: Rectangles(columns=("x",)), NUMBERS, "columns", "at least 2 and at most 3 columns"),
        (lambda: Rectangles(columns=("x", "colour")), NUMBERS, "columns", "no order"),
        (lambda: Rectangles(columns=("x", "y"), bits=3), NUMBERS, "bits", "at most 2 bits"),
        (lambda: Halfspaces(columns=("colour",)), NUMBERS, "columns", "not a column of numbers; use one of: x, y, z"),
        (lambda: Halfspaces(), WORDS, "columns", "no column of numbers"),
        (lambda: Halfspaces(columns="x"), NUMBERS, "columns", "list"),
        (lambda: Halfspaces(columns=("x",), translated=False), NUMBERS, "directions", "give 2 different"),
        (lambda: Halfspaces(directions=0), NUMBERS, "directions", "at least 1"),
        (lambda: Halfspaces(bits=40), NUMBERS, "bits", "at most 24"),
        (lambda: Halfspaces(translated=1), NUMBERS, "translated", "true or false"),
        (lambda: Linear(columns=("y",), weights=((1, 2),)), NUMBERS, "weights", "4 combinations"),
        (lambda: Linear(columns=("y",), weights=((1, 2, 3, 2000),)), NUMBERS, "weights", "at most 1,024"),
        (lambda: Linear(columns=("y",), weights=((0, 0, 0, 1),), whole=1000), NUMBERS, "whole", "1,024"),
        (lambda: Linear(columns=("y",), weights=()), NUMBERS, "weights", "at least one"),
        (lambda: Linear.rounded(NUMBERS, ("y",), [0.5, 2, 0, 0]), NUMBERS, "weights", "between 0 and 1"),
        (lambda: Linear.rounded(NUMBERS, ("y",), [0.5]), NUMBERS, "weights", "4 weights"),
        (lambda: Lipschitz(columns=("colour",), statistics=()), NUMBERS, "statistics", "at least one"),
        (lambda: Lipschitz(columns=("colour",), statistics=(("median",),)), NUMBERS, "statistics", "largest"),
        (lambda: Lipschitz(columns=("colour",), statistics=(("top", 4),)), NUMBERS, "statistics", "at most 3"),
        (lambda: Lipschitz(columns=("y",), statistics=(("distance", (1024,)),)), NUMBERS, "statistics", "4 shares"),
        (lambda: Lipschitz(columns=("y",), statistics=(("distance", (1, 2)),)), NUMBERS, "statistics", "sum to 1,024"),
        (lambda: Lipschitz(columns=("y",), statistics=(("difference", (0,), (0,)),)), NUMBERS, "statistics", "share"),
        (lambda: Lipschitz(columns=("y",), statistics=(("difference", (0,), (4,)),)), NUMBERS, "statistics", "0 to 3"),
    ],
)
def test_a_bad_option_is_named_with_what_works(build, domain, parameter, names):
    with pytest.raises(BadParameter) as problem:
        build().check(domain)
    assert problem.value.parameter == parameter
    assert names in str(problem.value)


@pytest.mark.parametrize(
    ("ask", "size"),
    [
        (lambda: Rectangles(columns=("n", "m")).check(WIDE), "1,000,000,000"),
        (lambda: Counting(conditions=((("n", (0,)), ("m", (0,))),)).check(WIDE), "1,000,000,000"),
        (lambda: Lipschitz(columns=("n", "m")).check(WIDE), "1,000,000,000"),
        (lambda: Halfspaces(directions=9).member(WIDE, 0), "1,000,000,000"),
        (lambda: Lipschitz(columns=("colour",)).tables(NUMBERS), "iterative-median"),
        (lambda: Lipschitz(columns=("colour",)).member(NUMBERS, 0), "iterative-median"),
    ],
)
def test_what_is_too_large_is_refused_with_its_size(ask, size):
    with pytest.raises(Refused, match=size):
        ask()


def test_a_class_too_large_to_list_names_its_size():
    column = Domain((Integers(name="n", low=0, high=4_999),))
    with pytest.raises(Refused, match="12,502,500 questions"):
        Intervals(column="n").totals(random_cells(column, 0))
    assert Intervals(column="n").worst(random_cells(column, 0), random_cells(column, 1)) > 0


def test_a_condition_is_written_in_values_or_labels():
    wanted = condition(NUMBERS, {"y": [10, "75 to 99"], "colour": "blue", "x": "missing"})
    assert wanted == (("y", (0, 3)), ("colour", (2,)), ("x", (5,)))
    with pytest.raises(BadParameter, match="colour"):
        condition(NUMBERS, {"colour": "mauve"})
    with pytest.raises(BadParameter, match="nobody"):
        condition(NUMBERS, {"nobody": 1})


@pytest.mark.parametrize("denominator", [0, 3, 2 * MOST_DENOMINATOR, 2**48])
def test_a_grid_so_fine_that_totals_could_wrap_around_is_refused(denominator):
    with pytest.raises(BadParameter, match="denominator: must be a power of two"):
        Query(columns=("a",), weights=np.array([0, 1]), denominator=denominator)
