"""Names promise something public; types promise little; the data is not asked."""

from __future__ import annotations

import pytest

from core.schema.domain import Domain
from core.schema.guesses import BY_NAME, BY_TYPE, draft, like_id


def guess(name: str, storage: str = "VARCHAR") -> dict[str, object]:
    [line] = draft([(name, storage)])
    return line


@pytest.mark.parametrize(
    ("name", "kind", "low", "high"),
    [
        ("age", "integers", 0, 120),
        ("AgeInYears", "integers", 0, 120),
        ("birth_year", "integers", 1900, 2100),
        ("year of birth", "integers", 1900, 2100),
        ("MONTH", "integers", 1, 12),
        ("visit-weekday", "integers", 1, 7),
        ("hour", "integers", 0, 23),
        ("age_retired", "integers", 0, 120),
        ("date retired", "dates", "1900-01-01", "2100-12-31"),
        ("percent_female", "reals", 0.0, 100.0),
        ("testScore", "integers", 0, 100),
        ("year_income", "reals", 0.0, 200_000.0),
        ("height_cm", "reals", 0.0, 250.0),
        ("date_of_birth", "dates", "1900-01-01", "2100-12-31"),
        ("visited on", "dates", "1900-01-01", "2100-12-31"),
        ("created_at", "dates", "1900-01-01", "2100-12-31"),
    ],
)
def test_what_a_name_promises(name: str, kind: str, low: object, high: object) -> None:
    line = guess(name)
    assert (line["kind"], line["low"], line["high"], line["note"]) == (kind, low, high, BY_NAME)


@pytest.mark.parametrize(
    "name", ["age_group", "hours_per_week", "page", "montharchive", "month_name", "number of retired", "", "_"]
)
def test_what_it_does_not(name: str) -> None:
    assert guess(name)["note"] == BY_TYPE


def test_types_decide_how_a_name_is_read() -> None:
    assert guess("age", "DOUBLE") | {"kind": "reals", "low": 0.0, "high": 120.0, "bins": 120} == guess("age", "DOUBLE")
    assert guess("percent", "BIGINT")["kind"] == "integers"
    assert guess("sex")["values"] == ["F", "M"]
    assert guess("sex", "TINYINT")["values"] == [0, 1, 2, 9]
    assert guess("date", "BIGINT")["kind"] == "integers"
    assert guess("year", "BOOLEAN")["kind"] == "booleans"
    assert guess("month", "DATE")["kind"] == "dates"
    assert guess("isMarried")["kind"] == guess("current smoker")["kind"] == "booleans"


@pytest.mark.parametrize("storage", ["VARCHAR", "BIGINT", "DOUBLE"])
def test_every_suggestion_by_name_is_a_valid_column(storage: str) -> None:
    names = [
        "age", "year", "quarter", "month", "week", "weekday", "day", "hour", "minute", "percent", "score", "rating",
        "children", "height", "weight", "income", "latitude", "longitude", "sex", "has_car",
    ]  # fmt: skip
    lines = draft([(name, storage) for name in names])
    assert {line["note"] for line in lines} == {BY_NAME}
    assert max(Domain.from_list(lines).sizes) <= 1_000


def test_names_like_ids() -> None:
    names = ["patient_id", "ID", "userId", "uuid", "Email", "width", "idea", "grid"]
    assert [name for name in names if like_id(name)] == names[:5]
