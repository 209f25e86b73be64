"""Code books that other tools write."""

import json

import pytest

from core.base.errors import BadSchema
from core.schema.codebook import foreign, read
from core.schema.domain import Domain

FIELDS = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120, "required": False}},
    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}, "description": "form A 3"},
    {"name": "stage", "type": "integer", "categories": [{"value": 1, "label": "early"}, {"value": 2}]},
    {"name": "seen", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
    {"name": "ill", "type": "boolean"},
    {"name": "remark", "type": "string"},
]
EXPECTED = [
    {"name": "age", "kind": "integers", "low": 0, "high": 120, "missing": True},
    {"name": "sex", "kind": "categories", "values": ["f", "m"], "note": "form A 3"},
    {"name": "stage", "kind": "categories", "values": [1, 2]},
    {"name": "seen", "kind": "dates", "low": "2020-01-01", "high": "2020-12-31"},
    {"name": "ill", "kind": "booleans"},
    {"name": "remark"},
]
CSVW = {
    "@context": "http://www.w3.org/ns/csvw",
    "url": "people.csv",
    "tableSchema": {
        "columns": [
            {"name": "a", "titles": ["age"], "datatype": {"base": "integer", "minimum": 0, "maximum": 120}},
            {"name": "ill", "datatype": "boolean", "required": False},
            {"name": "c", "titles": {"en": ["town"]}, "datatype": {"base": "string", "format": "^(Uster|Bad Ragaz)$"}},
            {"name": "code", "datatype": {"base": "string", "format": "[A-Z]{2}|x"}},
            {"titles": "mass", "datatype": {"base": "decimal", "minInclusive": 0, "maxInclusive": 300}},
        ]
    },
}


def test_sizes_of_columns_are_codes_from_zero() -> None:
    lines = read('{"age": 85, "sex": 2}')
    assert Domain.from_list(lines).sizes == (85, 2)
    with pytest.raises(BadSchema, match="size must be 1"):
        read('{"age": 0}')


@pytest.mark.parametrize(
    "written", [{"fields": FIELDS}, {"name": "people", "resources": [{"path": "x.csv", "schema": {"fields": FIELDS}}]}]
)
def test_frictionless(written: dict) -> None:
    text = json.dumps(written)
    assert foreign(text)
    assert read(text) == EXPECTED


def test_a_package_must_be_about_one_table() -> None:
    one = {"schema": {"fields": FIELDS}}
    with pytest.raises(BadSchema, match="exactly one table"):
        read(json.dumps({"resources": [one, one]}))


def test_csv_on_the_web() -> None:
    age, ill, town, code, mass = read(json.dumps(CSVW))
    assert age == {"name": "age", "kind": "integers", "low": 0, "high": 120}
    assert ill == {"name": "ill", "kind": "booleans", "missing": True}
    assert town == {"name": "town", "kind": "categories", "values": ["Uster", "Bad Ragaz"]}
    assert code == {"name": "code"}, "a pattern is no list"
    assert (mass["name"], mass["kind"], mass["low"], mass["high"]) == ("mass", "reals", 0, 300)


@pytest.mark.parametrize(
    "text", ['{"fields": [3]}', '{"fields": [{"type": "integer"}]}', '{"tableSchema": {"columns": [[]]}}']
)
def test_what_is_malformed_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(BadSchema, match="Code book, entry 1"):
        read(text)


def test_our_own_forms_are_not_foreign() -> None:
    assert not any(map(foreign, ['{"columns": []}', "[]", "name\nage", '{"age": {"kind": "booleans"}}']))
