import json
from dataclasses import MISSING, dataclass, fields

import pytest

from core.base.options import Option, option, options_of, unlisted, unlisted_of
from core.registry import mechanisms, query_classes

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
        assert json.loads(json.dumps(each.default)) == each.default
