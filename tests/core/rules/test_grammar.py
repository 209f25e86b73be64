"""Rules as they are written: what each kind means, and one sentence for every mistake."""

from __future__ import annotations

import pytest

from core.base.errors import BadParameter
from core.rules.grammar import read_rule
from core.rules.kinds import ConditionRule, KeyRule, LinearRule, TotalRule
from core.schema.domain import Booleans, Domain
from tests.core.rules.households import COUNTS, IMPLIED, IMPOSSIBLE, KEY, ORDER, PLAIN, SUM


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (IMPOSSIBLE, ConditionRule, "No record has age at most 14 and marital = married"),
        ("NEVER age < 15 and marital = married", ConditionRule, "No record has age at most 14 and marital = married"),
        (IMPLIED, ConditionRule, "If smoker = false, then cigarettes = 0"),
        ("always: age >= 15", ConditionRule, "Every record has age at least 15"),
        ("age >= 15", ConditionRule, "Every record has age at least 15"),
        (ORDER, LinearRule, "discharge is at least admission"),
        ("admission <= discharge + 3", LinearRule, "admission is at most discharge + 3"),
        (SUM, LinearRule, "total is wages + benefits"),
        (KEY, KeyRule, "Records with the same postcode have the same region"),
        ("postcode → region", KeyRule, "Records with the same postcode have the same region"),
        (COUNTS[0], TotalRule, "Exactly 120 records have region = north"),
    ],
)
def test_each_kind_is_read(text, kind, words):
    found = read_rule(text, PLAIN)
    assert isinstance(found, kind) and found.text == text and found.words(PLAIN) == words


def test_a_comparison_of_columns_collects_its_terms():
    found = read_rule("total - 5 >= 2*wages + benefits*3 + 1", PLAIN)
    assert isinstance(found, LinearRule)
    assert (found.columns, found.weights) == (("wages", "benefits", "total"), (-2, -3, 1))
    assert (found.operator, found.cut) == (">=", 6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("never: age < 16 and marital = married", "lies inside the bin 15 to 19 of column 'age'; use 15 or 20"),
        ("if smoker then", "the end of the formula is not expected here; write a column"),
        ("if smoker", "write 'then' and what follows"),
        ("agee > 5", "there is no column 'agee'; did you mean 'age'?"),
        ("discharge >= cigarettes", "a date can be compared with a date"),
        ("x -> region", "there is no column 'x'"),
        ("age -> age", "follows from itself"),
        ("postcode -> region and", "a key names two columns"),
        ("age >= 0", "says nothing: every possible record fulfils it"),
        ("count(age >= 5) = 3.5", "must be a whole number"),
        ("count(age >= 5) > 3", "write = and the number of records"),
        ("total = wages + benefitz", "there is no column 'benefitz'; did you mean 'benefits'?"),
        ("total = wages + region", "column 'region' has no order"),
        ("total = total", "compares a column with itself"),
        ("never: marital = maried", "did you mean 'married'?"),
    ],
)
def test_a_mistake_is_one_sentence(text, said):
    with pytest.raises(BadParameter) as problem:
        read_rule(text, PLAIN)
    assert said in str(problem.value) and str(problem.value).startswith("rule: ")


def test_the_colon_keeps_the_places_of_mistakes():
    with pytest.raises(BadParameter, match="character 17"):
        read_rule("never: age < 15 & smoker", PLAIN)


def test_a_column_may_be_called_like_a_word_of_the_grammar():
    people = Domain((Booleans(name="never"), Booleans(name="count")))
    assert read_rule('"never" or count', people).columns == ("never", "count")
