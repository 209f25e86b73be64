from dataclasses import dataclass

from core.options import Option, option, options_of


@dataclass(frozen=True, kw_only=True)
class Example:
    column: str = option("column", "Column", only="ordered")
    rounds: int = option("whole", "Rounds", default=10, low=1, high=100, help="How often.")
    hidden: int = 3


def test_only_fields_made_with_option_appear():
    assert options_of(Example) == (
        Option(name="column", kind="column", label="Column", only="ordered"),
        Option(name="rounds", kind="whole", label="Rounds", default=10, low=1, high=100, help="How often."),
    )
    assert Example(column="age").rounds == 10
