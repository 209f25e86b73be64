import json

import pandas as pd
import pytest

from core.base.errors import BadFile, BadParameter, DeskError, Unknown
from core.desk.desk import Desk
from core.plans.plan_file import LONGEST, read_plan_file, write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.registry import query_classes
from tests.core.samples import SMALL

PLAN = ReleaseTerms(
    queries=(Marginals(order=2, columns=("colour", "old")), Parities(values=(("colour", 1),))),
    mechanism="iterative-weights",
    budget=Budget("0.3", "1e-9"),
    options={"variant": "theorem"},
    records=1_000,
    copies=5,
)


def changed(**parts):
    return json.dumps(json.loads(write_plan_file(PLAN)) | parts)


def test_a_plan_survives_its_file():
    assert read_plan_file(write_plan_file(PLAN)) == PLAN
    assert read_plan_file(write_plan_file(PLAN)).budget.delta == Budget(1, "1e-9").delta, "exactly"
    plain = ReleaseTerms(queries=(Intervals(column="size"),), mechanism="interval-tree", budget=Budget(1))
    assert read_plan_file(write_plan_file(plain)) == plain


@pytest.mark.exhaustive
def test_the_file_of_a_priced_plan_has_no_table(workspace):
    desk = Desk(workspace)
    people = pd.DataFrame({"colour": ["red"], "size": [2], "old": [True]})
    table = desk.add_table(people, SMALL, unit=Unit.row(), budget=Budget(2, "1e-9"))
    plan = desk.plan(table, [Marginals(order=1)], mechanism="gaussian", budget=Budget(1, "1e-9"), edition=3)
    written = write_plan_file(plan)
    assert table.id not in written
    assert set(json.loads(written)) == {"format", "queries", "mechanism", "budget", "options", "records"}
    read = read_plan_file(written)
    again = desk.plan(
        table, read.queries, mechanism=read.mechanism, budget=read.budget, records=read.records, edition=3,
        **read.options,
    )  # fmt: skip
    assert again.id == plan.id
    desk.close()


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{", '{"format": 2}', '{"format": 1, "format": 1}', "[" * 10_000, '{"format": NaN}']
)
def test_what_is_no_plan(text):
    with pytest.raises(BadFile, match="no plan of Release Desk"):
        read_plan_file(text)


def test_a_long_file_is_not_even_parsed():
    with pytest.raises(BadFile, match="too long"):
        read_plan_file(" " * (LONGEST + 1))


@pytest.mark.parametrize(
    ("parts", "kind", "words"),
    [
        ({"table": "abc"}, BadParameter, "table: is not a part of a plan"),
        ({"queries": []}, BadParameter, "queries: must be a list"),
        ({"queries": ["marginals"]}, BadParameter, "queries: must be written as names"),
        ({"queries": [{"class": "riddles"}]}, Unknown, "no query class 'riddles'"),
        ({"queries": [{"class": "marginals", "power": 2}]}, BadParameter, "power: is not an option"),
        ({"queries": [{"class": "marginals", "order": "2"}]}, BadParameter, "order: "),
        ({"queries": [{"class": "intervals"}]}, BadParameter, "column: is missing"),
        ({"queries": [{"class": "marginals", "columns": 3}]}, BadParameter, "columns: must be a list"),
        ({"mechanism": "magic"}, Unknown, "no mechanism 'magic'"),
        ({"mechanism": ["tree"]}, BadParameter, "mechanism: must be written as text"),
        ({"mechanism": "online-laplace"}, Unknown, "no mechanism 'online-laplace'"),
        ({"options": {"sharpness": 1}}, BadParameter, "sharpness: is not an option"),
        ({"options": {"queries": []}}, BadParameter, "queries: belongs beside the options"),
        ({"options": []}, BadParameter, "options: must be written as names"),
        ({"budget": {"epsilon": "1"}}, BadParameter, "budget: must have an epsilon and a delta"),
        ({"budget": {"epsilon": 1, "delta": "0"}}, BadParameter, "epsilon: must be written as text"),
        ({"budget": {"epsilon": "-1", "delta": "0"}}, BadParameter, "epsilon: must be above 0"),
        ({"records": 0}, BadParameter, "records: must be a whole number"),
        ({"records": True}, BadParameter, "records: must be a whole number"),
        ({"records": 2.5}, BadParameter, "records: must be a whole number"),
    ],
)
def test_what_is_wrong_is_one_sentence(parts, kind, words):
    with pytest.raises(kind) as problem:
        read_plan_file(changed(**parts))
    assert words in str(problem.value)
    assert str(problem.value).count("\n") == 0


def test_a_missing_part_is_named():
    content = json.loads(write_plan_file(PLAN))
    del content["budget"]
    with pytest.raises(BadParameter, match="budget: is missing"):
        read_plan_file(json.dumps(content))


@pytest.mark.parametrize("name", query_classes)
@pytest.mark.parametrize("value", [None, -1, "x", [[1]], {"a": 1}, 1e400, [None]])
def test_odd_values_never_raise_anything_else(name, value):
    given = {"columns": value, "column": value, "order": value, "weights": value, "conditions": value, "bits": value}
    for option in given:
        try:
            read_plan_file(changed(queries=[{"class": name, option: given[option]}]))
        except DeskError as problem:
            assert str(problem).endswith(".")
