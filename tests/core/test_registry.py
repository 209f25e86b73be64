from pathlib import Path

import pytest

from core.base.errors import BadParameter, Unknown
from core.mechanisms.direct.laplace import LaplaceTables
from core.privacy.budget import Budget
from core.queries.marginals import Marginals
from core.registry import mechanism_from, mechanisms, query_from_json, query_to_json


@pytest.mark.parametrize(
    "query", [Marginals(order=3), Marginals(columns=("a", "b")), Marginals(sets=(("a",), ("b", "c")), weights=(1, 2))]
)
def test_queries_survive_json(query):
    assert query_from_json(query_to_json(query)) == query


def test_unknown_names_list_what_there_is():
    with pytest.raises(Unknown, match="laplace"):
        mechanism_from("magic", [Marginals()], Budget(1), {})
    with pytest.raises(Unknown, match="marginals"):
        query_from_json({"class": "magic"})


def test_unknown_options_are_named():
    with pytest.raises(BadParameter, match="colour"):
        mechanism_from("laplace", [Marginals()], Budget(1), {"colour": "red"})
    with pytest.raises(BadParameter, match="queries"):
        mechanism_from("laplace", [], Budget(1), {})


def test_builds_the_named_mechanism():
    assert mechanism_from("laplace", [Marginals()], Budget(1), {}) == LaplaceTables(
        queries=(Marginals(),), budget=Budget(1)
    )


@pytest.mark.parametrize("name", mechanisms)
def test_the_words_of_the_field_are_in_the_catalogue(name):
    """On the line that lists the mechanism."""
    catalogue = (Path(__file__).parents[2] / "core" / "README.md").read_text()
    line = next(line for line in catalogue.splitlines() if line.count("|") == 4 and f"`{name}`" in line.split("|")[1])
    assert mechanisms[name].known_as
    for words in mechanisms[name].known_as:
        assert words.lower() in line.lower()


def test_what_a_class_needs_is_named():
    with pytest.raises(BadParameter, match="column: is missing"):
        query_from_json({"class": "intervals"})
