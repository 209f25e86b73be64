import pytest

from core.base.wording import amount, plural, rows


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999_999, "999,999"), (10**12, "about 10^12"), (7 * 10**400, "about 10^400")]
)
def test_amount(number, text):
    assert amount(number) == text


def test_plural_and_rows():
    assert plural(2, "table") == "2 tables"
    assert plural(1, "table") == "1 table"
    assert rows(0.25) == "0.2 rows"
    assert rows(12_345.6) == "12,346 rows"
