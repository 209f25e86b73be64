import json
import math
from dataclasses import MISSING, dataclass, fields

import pytest

from core.base.errors import BadParameter
from core.base.options import Option, option, options_of, unlisted, unlisted_of
from core.privacy.budget import Budget
from core.queries.marginals import Marginals
from core.registry import interactive, mechanisms, offline, query_classes

REGISTERED = {**query_classes, **mechanisms}


@dataclass(frozen=True, kw_only=True)
class Example:
    column: str = option("column", "Column", only="ordered")
    rounds: int = option("whole", "Rounds", default=10, low=1, high=100, help="How often.")
    hidden: int = unlisted("nobody needs it", default=3)


def test_only_fields_made_with_option_appear():
    assert options_of(Example) == (
        Option(name="column", kind="column", label="Column", only="ordered", required=True),
        Option(name="rounds", kind="whole", label="Rounds", default=10, low=1, high=100, help="How often."),
    )
    assert unlisted_of(Example) == {"hidden": "nobody needs it"}
    assert Example(column="age").rounds == 10


@pytest.mark.parametrize(
    ("kind", "each"), [(kind, each) for kind in REGISTERED.values() for each in options_of(kind)],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_options_are_consistent(kind, each):
    assert each.label[0].isupper()
    assert each.help.endswith(".")
    assert each.required == next(field.default is MISSING for field in fields(kind) if field.name == each.name)
    if each.kind == "choice":
        assert each.default in each.choices
    if each.kind in ("whole", "real") and each.default is not None:
        assert each.low is None or each.low <= each.default
        assert each.high is None or each.default <= each.high
    if each.kind == "flag":
        assert isinstance(each.default, bool)
    if each.only or each.every:
        assert each.kind in ("column", "columns")
    if each.within:
        assert each.within in {other.name for other in options_of(kind)}


@pytest.mark.parametrize("name", mechanisms)
def test_options_of_a_mechanism_fit_into_a_plan(name):
    """Plain values: what a plan keeps as JSON comes back equal."""
    for each in options_of(mechanisms[name]):
        assert not each.required
        back = json.loads(json.dumps(each.default))
        assert (tuple(back) if isinstance(back, list) else back) == each.default, "lists of columns become tuples again"


REQUIRED = {
    "intervals": {"column": "a"},
    "unions": {"column": "a"},
    "statistics": {"column": "a"},
    "rectangles": {"columns": ("a", "b")},
    "counting": {"conditions": ((("a", (1,)),),)},
    "linear": {"columns": ("a",), "weights": ((0,) * 16,)},
    "lipschitz": {"columns": ("a",)},
}
"""What has no default, for a usual schema."""
OPTIONS = [(name, each) for name, kind in REGISTERED.items() for each in options_of(kind)]
WRONG = {True, "nonsense", math.nan, 2.5, (1,)}
"""Each fits one kind of option at most, apart from what is not a number at all."""
NUMBERS = [(name, each) for name, each in OPTIONS if each.kind in ("whole", "real")]


def made(name, **values):
    """The registered class with one value that is not usual."""
    if name in query_classes:
        return query_classes[name](**{**REQUIRED.get(name, {}), **values})
    if name in offline:
        return offline[name](queries=(Marginals(order=1),), budget=Budget(1), **values)
    return interactive[name](budget=Budget(1), **values)


def named(case):
    return f"{case[0]}-{case[1].name}"


@pytest.mark.parametrize("case", OPTIONS, ids=named)
def test_the_class_accepts_its_default(case):
    name, each = case
    if not each.required:
        assert getattr(made(name, **{each.name: each.default}), each.name) == each.default


@pytest.mark.parametrize("case", NUMBERS, ids=named)
def test_the_class_accepts_exactly_what_is_declared(case):
    """Both ends that a form offers work; the next value beyond, and an excluded end itself, are refused by name."""
    name, each = case
    number = int if each.kind == "whole" else float
    for offered in (each.least, each.most):
        if offered is not None:
            made(name, **{each.name: number(offered)})
    step = 1 if each.kind == "whole" else 1e-9
    beyond = [(each.low, -step), (each.high, step), (each.above, 0), (each.below, 0)]
    for limit, way in beyond:
        if limit is not None:
            with pytest.raises(BadParameter, match=f"^{each.name}: must be .*[.]$"):
                made(name, **{each.name: number(limit + way)})


@pytest.mark.parametrize("case", NUMBERS, ids=named)
def test_every_number_ends_somewhere_below(case):
    _, each = case
    assert each.least is not None


@pytest.mark.parametrize("case", OPTIONS, ids=named)
def test_values_of_another_kind_are_refused_by_name(case):
    name, each = case
    for wrong in WRONG - {"flag": {True}, "real": {2.5}, "column": {"nonsense"}}.get(each.kind, set()):
        with pytest.raises(BadParameter, match=f"^{each.name}: "):
            made(name, **{each.name: wrong})


@pytest.mark.parametrize("case", [case for case in OPTIONS if case[1].kind == "columns"], ids=named)
def test_lists_of_columns_are_as_long_as_declared(case):
    name, each = case
    many = [f"column {place}" for place in range(int(each.high or 3) + 1)]
    if each.high is not None:
        made(name, **{each.name: many[:-1]})
        with pytest.raises(BadParameter, match=each.name):
            made(name, **{each.name: many})
    if each.low:
        made(name, **{each.name: many[: int(each.low)]})
        if each.low > 1 or each.default != ():
            with pytest.raises(BadParameter, match=each.name):
                made(name, **{each.name: many[: int(each.low) - 1]})


@pytest.mark.parametrize(
    ("name", "field"), [("iterative-median", "questions"), ("iterative-median", "replay"), ("online-median", "replay"),
    ("online-median", "opening")],
)  # fmt: skip
def test_what_is_fixed_has_no_other_value(name, field):
    with pytest.raises(BadParameter, match=f"^{field}: must be "):
        made(name, **{field: "tables" if field == "questions" else 1})
