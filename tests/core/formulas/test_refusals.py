"""What is wrong with a formula is said in one sentence that names the word or the place."""

from __future__ import annotations

import pytest

from core.base.errors import BadParameter
from core.formulas.grammar import MOST_NESTED, parse
from core.formulas.question import canonical, question
from core.schema.domain import Domain, Integers
from tests.core.formulas.people import PEOPLE

DAYS = "2000-01-04 to 2000-01-06 of column 'born'"
SUCH = "such as 2024-12-31; column 'born' goes from 2000-01-01 to 2000-01-30."
DOUBLE = "is in double quotes, which are for columns; write values in single quotes."
SINGLE = "is in single quotes, which are for values; write columns in double quotes."
GRAMMAR = "is a word of the grammar; write a value before it, or put it in single quotes."
NOTHING = "so that its answer is 0 and need not be asked."
SPECIAL = "write 'missing', 'null' or 'other' after 'is', and = before a value"
HERE = "is not expected here"
END = f"the end of the formula {HERE}"
JOIN = "join conditions by 'and' or 'or', and put a value with blanks or signs in quotes"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty; write a condition such as age >= 65."),
        (" \n ", "is empty; write a condition such as age >= 65."),
        (None, "must be a text such as age >= 65."),
        ("a" * 2001, "has 2,001 characters; use at most 2,000."),
        ("(" * 33 + "ill" + ")" * 33, "has more than 32 parentheses inside each other; simplify it."),
        ("agee > 3", "there is no column 'agee'; did you mean 'age'?"),
        ("AGE > 3", "there is no column 'AGE'; did you mean 'age'?"),
        ("zzzzz > 3", "there is no column 'zzzzz' in the schema."),
        ("age-hours > 3", "there is no column 'age-hours'; put blanks around the minus sign."),
        ("age > hours", "'hours' is a column; compare the difference: age - hours > 0."),
        ("age # 3", "the sign # at character 5 has no meaning here; put a name or value with signs in quotes."),
        ("ill and \0", "the sign ? at character 9 has no meaning here; put a name or value with signs in quotes."),
        ("region = 'x", "the quotation mark at character 10 is never closed."),
        ('"age > 3', "the quotation mark at character 1 is never closed."),
        ("age >= 65", "65 lies inside the bin 60 to 69 of column 'age'; use 60 or 70."),
        ("age < 65", "65 lies inside the bin 60 to 69 of column 'age'; use 60 or 70."),
        ("age > 65", "65 lies inside the bin 60 to 69 of column 'age'; use 59 or 69."),
        ("age <= 65", "65 lies inside the bin 60 to 69 of column 'age'; use 59 or 69."),
        ("age > 60", "60 lies inside the bin 60 to 69 of column 'age'; use 59 or 69."),
        ("age < 5", "5 lies inside the bin 0 to 9 of column 'age'; use 10."),
        ("age > 5", "5 lies inside the bin 0 to 9 of column 'age'; use 9."),
        ("age >= 95", "95 lies inside the bin 90 to 99 of column 'age'; use 90."),
        ("age > 95", "95 lies inside the bin 90 to 99 of column 'age'; use 89."),
        ("age <= 95", "95 lies inside the bin 90 to 99 of column 'age'; use 89 or 99."),
        ("age between 60 and 65", "65 lies inside the bin 60 to 69 of column 'age'; use 69."),
        ("age = 65", "65 lies inside the bin 60 to 69 of column 'age'; use '60 to 69' for all of it."),
        ("born > 2000-01-04", f"2000-01-04 lies inside the bin {DAYS}; use 2000-01-03 or 2000-01-06."),
        ("income >= 0.35", "0.35 lies inside the bin 0.3 to 0.4 of column 'income'; use 0.3 or 0.4."),
        ("income < 1", "1 lies inside the bin 0.9 to 1 of column 'income'; use 0.9."),
        ("income between 0.3 and 0.3", "0.3 lies inside the bin 0.3 to 0.4 of column 'income'; use 0.4."),
        ("income = 0.3", "0.3 lies inside the bin 0.3 to 0.4 of column 'income'; use '0.3 to 0.4' for all of it."),
        ("income > 0.3", "each bin of column 'income' holds its left end; use >= instead of >."),
        ("income <= 0.3", "each bin of column 'income' holds its left end; use < instead of <=."),
        ("hours >= 100", "100 lies outside column 'hours', which goes from -5 to 99."),
        ("hours = -6", "-6 lies outside column 'hours', which goes from -5 to 99."),
        ("hours between 0 and 1e300", "1e300 lies outside column 'hours', which goes from -5 to 99."),
        ("hours > 99", "no value of column 'hours' lies above 99, its bound."),
        ("hours < -5", "no value of column 'hours' lies below -5, its bound."),
        ("hours between 5 and 3", "nothing lies between 5 and 3; write the smaller one first."),
        ("hours >= 4.5", "column 'hours' holds whole numbers only, and 4.5 is not one."),
        ("hours > nan", "'nan' is not a number; column 'hours' goes from -5 to 99."),
        ("hours = ten", "'ten' is not a number; column 'hours' goes from -5 to 99."),
        ("born > 2000", f"'2000' is not a date {SUCH}"),
        ("born > 2000-02-31", f"'2000-02-31' is not a date {SUCH}"),
        ("region > north", "column 'region' has no order; use =, != or in."),
        ("ill between 0 and 1", "column 'ill' has no order; use =, != or in."),
        ("region = nroth", "column 'region' has no value 'nroth'; did you mean 'north'?"),
        ("code = 7", "column 'code' has no value '7'; its values are 1, 2, -3."),
        ("ill = maybe", "column 'ill' has no value 'maybe'; use false or true."),
        ("region = ' '", "an empty text is no value of column 'region'; use is missing."),
        ("hours is missing", "the schema declares no cell for missing values of column 'hours'."),
        ("age is other", "the schema declares no cell for undeclared values of column 'age'."),
        ('region = "north"', f"'north' at character 10 {DOUBLE}"),
        ("'age' >= 10", f"'age' at character 1 {SINGLE}"),
        ("region = and", f"'and' at character 10 {GRAMMAR}"),
        ("2*region > 3", "column 'region' is not a column of numbers, so it cannot stand in a sum."),
        ("2*born > 3", "column 'born' is not a column of numbers, so it cannot stand in a sum."),
        ("age - age > 3", "column 'age' has the weight 0; leave it out."),
        ("1e400*age > 3", "the number '1e400' at character 1 is too large."),
        ("1e308*age > 3", "the numbers in the sum are too large."),
        ("hours > 5 and hours < 3", f"no possible record fulfils this condition, {NOTHING}"),
        ("not (ill or not ill)", f"no possible record fulfils this condition, {NOTHING}"),
        ("2 >= age", f"'>=' at character 3 {HERE}; a number before a comparison is a weight, such as 2*age."),
        ("2*age in {3}", f"'in' at character 7 {HERE}; compare the sum by >=, <=, >, <, = or between."),
        ("2*age not 3", f"'3' at character 11 {HERE}; write 'between'."),
        ("2*age >= x", f"'x' at character 10 {HERE}; write a number."),
        ("2*age between 1 or 2", f"'or' at character 17 {HERE}; write 'and' and the second bound."),
        ("age between 10 or 2", f"'or' at character 16 {HERE}; write 'and' and the second bound."),
        ("age >= -north", f"'north' at character 9 {HERE}; write a value."),
        ("age =", f"{END}; write a value."),
        ("ill and", f"{END}; write a column."),
        ("and ill", f"'and' at character 1 {HERE}; write a column."),
        ("age", f"{END}; compare the column by =, >=, in, between or is missing."),
        ("age not", f"{END}; write 'in' or 'between'."),
        ("not", f"{END}; write a column."),
        ("()", f"')' at character 2 {HERE}; write a column."),
        ("(ill", f"{END}; close the parenthesis by )."),
        ("(ill))", f"')' at character 6 {HERE}; {JOIN}."),
        ("region = east side", f"'side' at character 15 {HERE}; {JOIN}."),
        ("region = east-1", f"'-' at character 14 {HERE}; {JOIN}."),
        ("region is north", f"'north' at character 11 {HERE}; {SPECIAL}."),
        (
            "region in north",
            f"'north' at character 11 {HERE}; list the values in braces or parentheses, such as {{north, east}}.",
        ),
        ("region in (north", f"{END}; close the list by ), and put a value with blanks or signs in quotes."),
        (
            "region in (north}",
            f"'}}' at character 17 {HERE}; close the list by ), and put a value with blanks or signs in quotes.",
        ),
        (
            "region like 'n%'",
            "'like' at character 8 compares parts of a text, but column 'region' has whole values only; list those "
            "that fit, such as in (north, east).",
        ),
        ("hours is null", "the schema declares no cell for missing values of column 'hours'."),
        ("region in {}", f"'}}' at character 12 {HERE}; write a value."),
        ("region in {north", f"{END}; close the list by }}, and put a value with blanks or signs in quotes."),
    ],
)
def test_every_refusal_is_one_sentence(text, sentence):
    with pytest.raises(BadParameter) as caught:
        question(text, PEOPLE)
    assert str(caught.value) == f"question: {sentence}"


def test_too_many_combinations_name_the_columns():
    wide = Domain(tuple(Integers(name=name, low=0, high=999) for name in "abc"))
    assert question("a >= 1 and b >= 1", wide).weights.shape == (1000, 1000)
    for text in ("a >= 1 and b >= 1 and c >= 1", "a + b + c >= 1"):
        with pytest.raises(BadParameter) as caught:
            question(text, wide)
        assert str(caught.value) == (
            "question: the columns a, b, c have 1,000,000,000 combinations and at most 4,194,304 are held; "
            "use fewer columns or coarser bins."
        )


def test_deep_and_long_formulas_are_read_or_refused_in_a_sentence():
    inner = "(" * MOST_NESTED + "ill" + ")" * MOST_NESTED
    assert parse(inner, PEOPLE) == parse("ill", PEOPLE)
    assert parse("not " * 498 + "ill", PEOPLE) == parse("ill", PEOPLE)
    assert question(" or ".join(["ill"] * 280), PEOPLE).columns == ("ill",)
    with pytest.raises(BadParameter, match="when written out; use at most 2,000"):
        canonical(" or ".join(["ill"] * 280), PEOPLE)
    for text in ("(" * 2000, "not(" * 500, "((ill) or " * 200):
        with pytest.raises(BadParameter):
            question(text, PEOPLE)


def test_messages_are_printable_and_short():
    for text in ("\x1b[31m" * 10, '"' + "\x1b" * 1500 + '" = 1', "region = '" + "\n" * 1500 + "x'"):
        with pytest.raises(BadParameter) as caught:
            question(text, PEOPLE)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 300


def test_large_numbers_are_written_out():
    large = Domain((Integers(name="x", low=0, high=10**12 - 1, bins=10),))
    with pytest.raises(BadParameter, match=r"150000000000 lies inside .*; use 100000000000 or 200000000000"):
        question("x >= 1.5e11", large)
