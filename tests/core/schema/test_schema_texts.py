"""What a schema may say: bad columns and malformed texts are named in one sentence, drafts, storage and rules."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadSchema
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, draft
from tests.core.schema.test_domain import AGE, everything, fitted

BAD_COLUMNS = [
    ({"kind": "integers", "low": 3, "high": 1}, "low bound above"),
    ({"kind": "integers", "low": True, "high": 1}, "low must be a whole"),
    ({"kind": "integers", "low": 0, "high": 1.5}, "high must be a whole"),
    ({"kind": "integers", "low": 0, "high": 10**400}, "high must lie"),
    ({"kind": "integers", "low": "0", "high": 1}, "low must be a whole"),
    ({"kind": "integers", "low": 0, "high": 9, "bins": 0}, "bins"),
    ({"kind": "integers", "low": 0, "high": 9, "bins": -1}, "bins"),
    ({"kind": "integers", "low": 0, "high": 9, "bins": 11}, "only 10 values"),
    ({"kind": "integers", "low": 0, "high": 9, "bits": 4}, "only 10 values"),
    ({"kind": "integers", "low": 0, "high": 9, "bits": True}, "bits must be a whole"),
    ({"kind": "integers", "low": 0, "high": 9, "bits": 1, "bins": 2}, "not both"),
    ({"kind": "integers", "low": 0, "high": 2**20}, "1,048,577"),
    ({"kind": "integers", "low": 1, "high": 2**20, "missing": True}, "1,048,577 cells"),
    ({"kind": "integers", "low": 0, "high": 10**9, "bins": 2**20 + 1}, "1,048,576 bins"),
    ({"kind": "integers", "high": 1}, "needs 'low'"),
    ({"kind": "integers", "low": 0, "high": 1, "width": 3}, "unknown setting 'width'"),
    ({"kind": "integers", "low": 0, "high": 1, "missing": "no"}, "missing"),
    ({"kind": "reals", "low": 0, "high": 1}, "bins or bits"),
    ({"kind": "reals", "low": 1, "high": 1, "bins": 2}, "below"),
    ({"kind": "reals", "low": float("nan"), "high": 1, "bins": 2}, "finite"),
    ({"kind": "reals", "low": 0, "high": float("inf"), "bins": 2}, "finite"),
    ({"kind": "reals", "low": 0, "high": 10**400, "bins": 2}, "finite"),
    ({"kind": "reals", "low": 0, "high": False, "bins": 2}, "must be a number"),
    ({"kind": "reals", "low": 1, "high": 1 + 1e-15, "bins": 100}, "too close"),
    ({"kind": "reals", "low": 0, "high": 1, "bins": 2, "decimals": 99}, "decimals"),
    ({"kind": "categories", "values": []}, "at least one"),
    ({"kind": "categories", "values": "abc"}, "values"),
    ({"kind": "categories", "values": ["a", "a"]}, "twice"),
    ({"kind": "categories", "values": [1, "1"]}, "twice"),
    ({"kind": "categories", "values": ["a", " a "]}, "twice"),
    ({"kind": "categories", "values": ["a"], "other": "a"}, "twice"),
    ({"kind": "categories", "values": ["a"], "other": " "}, "'other'"),
    ({"kind": "categories", "values": ["a", ""]}, "empty text"),
    ({"kind": "categories", "values": ["a", None]}, "texts or whole"),
    ({"kind": "categories", "values": [1.5]}, "texts or whole"),
    ({"kind": "categories", "values": [True]}, "texts or whole"),
    ({"kind": "categories", "values": ["\ud800"]}, "valid text"),
    ({"kind": "dates", "low": "2020-02-30", "high": "2021-01-01"}, "low must be a date"),
    ({"kind": "dates", "low": "2020-01-01T00:00", "high": "2021-01-01"}, "low must be a date"),
    ({"kind": "dates", "low": 5, "high": "2021-01-01"}, "low must be a date"),
    ({"kind": "dates", "low": "2022-01-01", "high": "2021-01-01"}, "low bound above"),
    ({"kind": "dates", "low": "0001-01-01", "high": "9999-01-01"}, "use bins"),
    ({"kind": "colours"}, "kind"),
    ({"kind": ["integers"]}, "kind"),
    ({}, "kind"),
]


@pytest.mark.parametrize(("settings_", "words"), BAD_COLUMNS)
def test_bad_columns_are_named(settings_: dict, words: str) -> None:
    text = json.dumps({"columns": [{"kind": "booleans", "name": "fine"}, {"name": "the column", **settings_}]})
    with pytest.raises(BadSchema) as problem:
        Domain.from_json(text)
    assert "'the column'" in str(problem.value)
    assert words in str(problem.value)
    assert str(problem.value).endswith(".")
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "3", "null", '{"columns": 3}', '{"columns": []}', '{"columns": [3]}', '{"columns": [[]]}',
        '{"rows": []}', '{"columns": [], "more": 1}', '{"columns": [{"kind": "booleans"}]}',
        '{"columns": [{"kind": "booleans", "name": ""}]}', '{"columns": [{"kind": "booleans", "name": "  "}]}',
        '{"columns": [{"kind": "booleans", "name": 3}]}', '{"columns": [{"kind": "booleans", "name": "a\\u0000"}]}',
        '{"columns": [{"kind": "booleans", "name": "a"}, {"kind": "booleans", "name": "a"}]}',
        '{"columns": [{"kind": "booleans", "name": "a", "name": "b"}]}', "[" * 100_000, "1" * 5000,
        json.dumps({"columns": [{"kind": "booleans", "name": f"c{place}"} for place in range(10_001)]}),
    ],
)  # fmt: skip
def test_malformed_schemas_are_one_sentence(text: str) -> None:
    with pytest.raises(BadSchema) as problem:
        Domain.from_json(text)
    assert str(problem.value).endswith(".")
    assert len(str(problem.value)) < 200


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["columns", "name", "kind", "low", "values", "bins"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def as_schema(data: object) -> str:
    return json.dumps({"columns": [{"kind": "integers", "name": "n", "low": data, "high": 9}, data]})


@pytest.mark.exhaustive
@given(text=st.text(max_size=40) | plain.map(as_schema))
@settings(max_examples=100, deadline=None)
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        Domain.from_json(text)
    except BadSchema as problem:
        assert str(problem)


def test_a_domain_holds_attributes_only() -> None:
    for wrong in ((), ("age",), (AGE, AGE)):
        with pytest.raises(BadSchema):
            Domain(wrong)  # type: ignore[arg-type]
    with pytest.raises(BadSchema, match="nobody"):
        everything()["nobody"]
    with pytest.raises(BadSchema):
        everything().shape(["age", "nobody"])


def test_draft_sees_names_and_types_only() -> None:
    columns = [("age", "VARCHAR"), ("visit_date", "VARCHAR"), ("born", "DATE"), ("x", "DOUBLE"), ("n", "BIGINT")]
    drafted = draft([*columns, ("has_car", "VARCHAR"), ("town", "VARCHAR"), ("on", "BOOLEAN"), ("t", "TIMESTAMP_NS")])
    kinds = [column["kind"] for column in drafted]
    assert kinds == [
        "integers", "dates", "dates", "reals", "integers", "booleans", "categories", "booleans", "dates",
    ]  # fmt: skip
    assert all("check" in column["note"] for column in drafted)
    complete = [column for column in drafted if column["kind"] != "categories"]
    assert len(Domain.from_list(complete)) == 8
    with pytest.raises(BadSchema, match="'town'"):
        Domain.from_list(drafted)


def test_a_list_is_searched_for_every_spelling_of_a_value() -> None:
    decimals = Categories(name="c", values=("1.50", "2", "2020-01-02", "01"), other="else")
    assert [code for code, _ in fitted(decimals, [Decimal("1.5"), "1.5", 1.5, "1.500", "1,5"])] == [0, 0, 0, 0, 4]
    assert [code for code, _ in fitted(decimals, ["2.0", 2.0, Decimal("2.00"), "02", "1", 1])] == [1, 1, 1, 4, 4, 4]
    days = ["2020-01-02 00:00:00", datetime(2020, 1, 2), pd.Timestamp("2020-01-02"), datetime(2020, 1, 2, 3)]
    assert [code for code, _ in fitted(decimals, days)] == [2, 2, 2, 4]
    both = Categories(name="c", values=("1.5", "1.50"))
    assert [code for code, _ in fitted(both, ["1.5", "1.50", Decimal("1.50")])] == [0, 1, 0]


def test_yes_and_1_are_one_value_unless_they_are_texts() -> None:
    answers = Categories(name="c", values=("false", "true"), other="else")
    assert [code for code, _ in fitted(answers, [True, 1, 1.0, np.bool_(True), "1", "true"])] == [1, 1, 1, 1, 2, 1]
    numbers = Categories(name="c", values=(0, 1), other="else")
    assert [code for code, _ in fitted(numbers, [True, False, "true"])] == [1, 0, 2]
    neither = Categories(name="c", values=("true", "1"))
    assert [code for code, _ in fitted(neither, [True, 1, "true", "1"])] == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kind": "integers", "low": 0, "high": 300, "storage": "int8"}, "bounds that int8 cannot hold"),
        ({"kind": "integers", "low": -1, "high": 3, "storage": "uint8"}, "bounds that uint8 cannot hold"),
        ({"kind": "reals", "low": 0, "high": 1e39, "bins": 2, "storage": "float32"}, "bounds that float32 cannot hold"),
        ({"kind": "dates", "low": "2020-01-01", "high": "2020-01-02", "storage": "int8"}, "storage is of the wrong"),
        ({"kind": "booleans", "storage": "int8"}, "unknown setting 'storage'"),
    ],
)
def test_a_storage_that_cannot_hold_the_column_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadSchema, match=sentence):
        Domain.from_list([{"name": "x", **settings}])


def test_a_schema_without_storage_is_written_as_before() -> None:
    domain = Domain((Integers(name="x", low=0, high=9), Dates(name="d", low="2020-01-01", high="2020-01-02")))
    assert "storage" not in domain.to_json()
    declared = Domain((Integers(name="x", low=0, high=9, storage="int8"),))
    assert Domain.from_json(declared.to_json()) == declared
    assert declared.digest != domain.project(["x"]).digest


def test_rules_are_part_of_a_schema():
    plain = Domain((Integers(name="age", low=0, high=99), Booleans(name="married"), Booleans(name="home town")))
    rules = ("never: age < 15 and married", ' never: "home town" and age < 3 ', "", "age -> married")
    people = plain.obeying(rules)
    assert people.rules == ("never: age < 15 and married", 'never: "home town" and age < 3', "age -> married")
    assert Domain.from_json(people.to_json()) == people and people != plain and people.digest != plain.digest
    assert '"rules"' not in plain.to_json()
    assert people.project(("married", "age")).rules == (people.rules[0], people.rules[2])
    assert people.project(("home town", "age")).rules == (people.rules[1],)
    assert people.project(people.names).rules == people.rules


@pytest.mark.parametrize("rule", ["two\nlines", "x" * 3_000, 5])
def test_a_rule_is_one_line_of_text(rule):
    with pytest.raises(BadSchema, match="Rule number 2"):
        Domain((Booleans(name="ill"),), ("never: ill", rule))


def test_a_schema_without_rules_has_the_digest_it_always_had():
    assert Domain((Booleans(name="ill"),)).digest == (
        "2ace3431f042042ff47ddff939b978827231365cf8d22bb93cacadebd37970c3"
    )
