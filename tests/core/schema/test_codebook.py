"""Code books are read as they come, and what is doubtful is named by line and column."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.base.errors import BadSchema
from core.schema import codebook
from core.schema.domain import Domain

PLAIN = """name,kind,low,high,bins,values,other,missing,note
age,integers,0,120,,,,no,form A 3
income,reals,0,200000,50,,,yes,tax law
region,categories,,,,north | south | 3 | "4",elsewhere,no,list of districts
born,dates,1900-01-01,2024-12-31,125,,,,
smoker,booleans,,,,,,yes,
comment,,,,,,,,free text
"""
READ = [
    {"name": "age", "kind": "integers", "low": 0, "high": 120, "note": "form A 3"},
    {"name": "income", "kind": "reals", "low": 0, "high": 200_000, "bins": 50, "missing": True, "note": "tax law"},
    {
        "name": "region", "kind": "categories", "values": ["north", "south", 3, "4"], "other": "elsewhere",
        "note": "list of districts",
    },
    {"name": "born", "kind": "dates", "low": "1900-01-01", "high": "2024-12-31", "bins": 125},
    {"name": "smoker", "kind": "booleans", "missing": True},
    {"name": "comment", "note": "free text"},
]  # fmt: skip


def test_a_plain_code_book() -> None:
    assert codebook.read(PLAIN) == READ
    assert len(Domain.from_list(line for line in READ if "kind" in line)) == 5


@pytest.mark.parametrize("data", [READ, {"columns": READ}, {line["name"]: {**line} for line in READ}])
def test_json_says_the_same(data: object) -> None:
    if isinstance(data, dict) and "columns" not in data:
        data = {name: {key: entry[key] for key in entry if key != "name"} for name, entry in data.items()}
    assert codebook.read(json.dumps(data)) == READ


def test_a_saved_schema_is_a_code_book() -> None:
    domain = Domain.from_list(line for line in READ if "kind" in line)
    assert Domain.from_list(codebook.read(domain.to_json())) == domain


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Variable;Type;Min;Max\nage;INT;0;120", {"kind": "integers", "low": 0, "high": 120}),
        ("\ufeffcolumn\tlevels\tnullable\r\nage\tF; M\tTRUE\r\n", {"kind": "categories", "values": ["F", "M"]}),
        ("name,low,high\n\nage,-1.5,2e3\n\n", {"kind": "reals", "low": -1.5, "high": 2000.0, "bins": 100}),
        ("name, low, high\nage, 2020-01-01, 2020-12-31", {"kind": "dates", "low": "2020-01-01"}),
        ('name,values\nage,"a, b | ""x=y"""', {"values": ["a, b", "x=y"]}),
        ("name,values\nage,1;2;3", {"values": [1, 2, 3]}),
        ("name,note\nage,", {}),
    ],
)
def test_spellings_and_kinds_are_understood(text: str, line: dict[str, object]) -> None:
    [found] = codebook.read(text)
    assert found["name"] == "age"
    assert {key: found[key] for key in line} == line
    assert line or found == {"name": "age"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The code book is empty"),
        ("name,kind\n", "The code book describes no column"),
        ("kind,low\nintegers,1", "line 1, column 'name': is missing"),
        ("name,min,low\na,1,2", "line 1, column 'low': there are two columns for 'low'"),
        ("name,colour\na,red", "line 1, column 'colour': is unknown"),
        ("name,kind\na,booleans\n\n,dates", "line 4, column 'name': is empty"),
        ("name,kind\na,booleans\nb,text\na,dates", "line 3: Column 'b' needs"),
        ("name,kind\na,booleans\na,booleans", "line 3, column 'name': 'a' was described before, in line 2"),
        ("name,kind\na,fraction", "line 2, column 'kind': must be one of categories"),
        ("name,missing\na,yes", "line 2, column 'kind': is empty"),
        ('name,note,low,high\na,"two\nlines",1,2\nb,,ten,11', "line 4, column 'low': must be a number"),
        ('name,low,high\na,"1,000",2000', "line 2, column 'low': must be a number"),
        ("name,kind,low,high\na,dates,1.1.2020,2020-12-31", "line 2, column 'low': must be a date"),
        ("name,low,high,bins\na,1,9,2.5", "line 2, column 'bins': must be a whole number from 1"),
        ("name,low,high,bins\na,1,9,99999999999999", "line 2, column 'bins': must be a whole number from 1"),
        ("name,low,high\na,9,1", "line 2: Column 'a' has a low bound above"),
        ("name,kind,values\na,integers,1 | 2", "line 2, column 'values': means nothing for a column of integers"),
        ("name,values\na,1=male; 2=female", "line 2, column 'values': write the codes only"),
        ("name,low,high,missing\na,1,2,perhaps", "line 2, column 'missing': must be yes or no"),
        ("name,values\na,b,c", "line 2: it has 3 fields and the first line names 2 columns"),
        ('name,note\na,b\nc,"d', "line 3: it cannot be read"),
        ("{", "not valid JSON"),
        ('{"columns": 3}', "must be a JSON list"),
        ("[3]", "entry 1: it must be an object"),
        ('[{"name": "a", "kind": "booleans"}, {"name": 3}]', "entry 2, column 'name': is empty"),
        ('[{"name": "a", "low": [1], "high": 2}]', "entry 1, column 'low': must be one text or number"),
        ('[{"name": "a", "low": true, "high": 2}]', "entry 1, column 'low': must be one text or number"),
        ('[{"name": "a", "values": [1.5]}]', "entry 1, column 'values': must be a list of texts or whole numbers"),
        ('[{"name": "a", "low": 1, "low": 2}]', "'a': it gives a setting twice"),
        ('[{"name": "a", "low": 1, "high": NaN}]', "entry 1: Column 'a'"),
    ],
)
def test_errors_name_line_and_column(text: str, sentence: str) -> None:
    with pytest.raises(BadSchema) as problem:
        codebook.read(text)
    assert sentence in str(problem.value)
    assert str(problem.value).endswith(".")


@pytest.mark.exhaustive
@given(some.text(max_size=60) | some.text(alphabet='name,low\n"1|;[{}]: ', max_size=60))
def test_anything_else_is_one_sentence(text: str) -> None:
    try:
        lines = codebook.read(text)
    except BadSchema as problem:
        assert str(problem)
    else:
        assert all(line["name"] for line in lines)


def test_a_code_book_in_json_may_list_rules():
    text = '{"columns": [{"name": "age", "low": 0, "high": 9}], "rules": ["never: age < 3"]}'
    assert codebook.read(text)[0]["name"] == "age" and codebook.read_rules(text) == ("never: age < 3",)
    assert codebook.read_rules("name,low,high\nage,0,9") == () and codebook.read_rules('[{"name": "age"}]') == ()
    with pytest.raises(BadSchema, match="must be a list of texts"):
        codebook.read_rules('{"columns": [], "rules": "never"}')
