"""The grid and the schema say the same."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.base.errors import BadSchema
from core.schema.domain import Dates, Domain, Integers, Reals
from dashboard.views.data import schema_grid

DEMO = Path(__file__).resolve().parents[4] / "data" / "clinic_visits.schema.json"
LETTERS = some.characters(exclude_categories=["Cs"], exclude_characters="\0")
VALUES = some.text(LETTERS, min_size=1, max_size=8).filter(str.strip) | some.integers(-(10**17), 10**17)


def test_demo_schema_comes_back_unchanged() -> None:
    domain = Domain.from_json(DEMO.read_text(encoding="utf-8"))
    frame = schema_grid.from_domain(domain, [(name, "VARCHAR") for name in ("patient_id", *domain.names)])
    assert schema_grid.to_domain(frame).obeying(domain.rules) == domain
    assert frame.set_index("name").loc["patient_id", "include"] == False  # noqa: E712


@pytest.mark.exhaustive
@given(some.lists(VALUES, max_size=6))
def test_categories_come_back_unchanged(values: list[str | int]) -> None:
    assert schema_grid.read_values(schema_grid.write_values(values)) == values


def test_categories_as_a_person_types_them() -> None:
    assert schema_grid.read_values("north|south |  3 | \"3\" |\n'x'") == ["north", "south", 3, "3", "'x'"]
    assert schema_grid.read_values("") == []
    assert schema_grid.read_values('"unfinished | b') == ['"unfinished', "b"]


def test_bits_are_shown_as_bins() -> None:
    domain = Domain.from_list([{"name": "x", "kind": "reals", "low": 0.1, "high": 1, "bits": 3}])
    again = schema_grid.to_domain(schema_grid.from_domain(domain, [("x", "DOUBLE")]))
    assert again.sizes == domain.sizes == (8,)
    assert again.to_list()[0]["low"] == 0.1


def test_storage_comes_back_and_is_never_guessed() -> None:
    lines = [
        {"name": "n", "kind": "integers", "low": 0, "high": 9, "storage": "int8"},
        {"name": "d", "kind": "dates", "low": "2020-01-01", "high": "2020-12-31", "storage": "timestamp"},
    ]
    domain = Domain.from_list(lines)
    assert schema_grid.to_domain(schema_grid.from_domain(domain, [("n", "TINYINT"), ("d", "DATE")])) == domain
    offered = [get_args(get_args(kind.model_fields["storage"].annotation)[0]) for kind in (Integers, Reals, Dates)]
    assert sum(offered, ()) == schema_grid.STORAGES
    assert set(schema_grid.from_columns([("n", "TINYINT"), ("d", "TIMESTAMP")])["storage"]) == {""}


def test_draft_looks_at_names_and_types_only() -> None:
    frame = schema_grid.from_columns([("visit_id", "BIGINT"), ("age", "VARCHAR"), ("width", "DOUBLE")])
    assert frame["include"].tolist() == [False, True, True]
    assert frame["kind"].tolist() == ["integers", "integers", "reals"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"low": ""}, "Column 'age' needs 'low'."),
        ({"low": "ten"}, "Column 'age': low must be a whole number."),
        ({"high": "-1"}, "Column 'age' has a low bound above its high bound."),
        ({"kind": "categories"}, "Column 'age' needs at least one value: list its categories, or choose another kind."),
        ({"include": False}, "No column is ticked; tick at least one to be in the schema."),
    ],
)
def test_errors_name_the_column(change: dict[str, object], sentence: str) -> None:
    frame = schema_grid.from_columns([("age", "BIGINT")])
    for name, value in change.items():
        frame[name] = [value]
    with pytest.raises(BadSchema) as problem:
        schema_grid.to_domain(frame)
    assert str(problem.value) == sentence


def test_schema_of_other_columns() -> None:
    domain = Domain.from_list([{"name": "salary", "kind": "booleans"}])
    with pytest.raises(BadSchema, match="'salary'"):
        schema_grid.from_domain(domain, [("age", "BIGINT")])


def test_every_mistake_is_listed_in_the_order_of_the_lines() -> None:
    frame = schema_grid.from_columns([("a", "VARCHAR"), ("ok", "BOOLEAN"), ("age", "BIGINT"), ("left_out", "VARCHAR")])
    frame.loc[frame["name"] == "age", "low"] = "500"
    frame.loc[frame["name"] == "left_out", "include"] = False
    found = schema_grid.mistakes(frame)
    assert ["'a'" in found[0], "'age'" in found[1], len(found)] == [True, True, 2]
    assert schema_grid.mistakes(frame[frame["name"] == "ok"]) == []
    assert schema_grid.mistakes(frame[frame["name"] == "left_out"]) == [
        "No column is ticked; tick at least one to be in the schema."
    ]


def test_several_columns_are_set_at_once_and_the_rest_stays() -> None:
    frame = schema_grid.from_columns([("a", "VARCHAR"), ("b", "VARCHAR"), ("age", "BIGINT")])
    both = schema_grid.with_settings(frame, ["a", "b"], {"kind": "reals", "low": "0", "high": "1.5", "bins": 30})
    domain = schema_grid.to_domain(both)
    assert domain["a"] == Reals(name="a", low=0, high=1.5, bins=30), "no guess any more"
    assert domain.sizes == (30, 30, 121)
    assert "0" not in list(frame["low"][:2]), "the grid it came from is not changed"


def test_an_index_without_a_name_starts_unticked() -> None:
    frame = schema_grid.from_columns([("column_1", "VARCHAR"), ("Unnamed: 0", "BIGINT"), ("age", "BIGINT")])
    assert list(frame["include"]) == [False, False, True]


def test_lines_with_a_mistake_and_guesses_are_marked() -> None:
    frame = schema_grid.from_columns([("a", "VARCHAR"), ("age", "BIGINT"), ("id", "BIGINT"), ("ok", "BOOLEAN")])
    frame.loc[frame["name"] == "ok", "note"] = "the form"
    assert schema_grid.marks(frame) == [schema_grid.WRONG, schema_grid.GUESSED, "", ""]
