"""The public schema: cells, rules for values that do not fit, decoding, JSON."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter, BadSchema
from core.schema.domain import Attribute, Booleans, Categories, Dates, Domain, Integers, Reals

AGE = Integers(name="age", low=0, high=99, bins=10)
EPOCH = date(1970, 1, 1)


def fitted(attribute: Attribute, values: object) -> list[tuple[int, bool]]:
    codes, misfits = attribute.encode(values)
    return list(zip(codes.tolist(), misfits.tolist(), strict=True))


def everything() -> Domain:
    return Domain(
        (
            Categories(name="town", values=("Aa", "Bb", "Cc"), other="elsewhere", missing=True, note="code book"),
            Categories(name="grade", values=(1, 2, 3)),
            AGE,
            Integers(name="rooms", low=-3, high=3, missing=True),
            Reals(name="weight", low=0, high=200, bits=4, decimals=1, missing=True),
            Booleans(name="ill", missing=True),
            Dates(name="seen", low=date(2020, 1, 1), high=date(2020, 12, 31), bins=12, missing=True),
        )
    )


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
names = texts.filter(str.strip)
missing = st.booleans()


@st.composite
def categories(draw: st.DrawFn, name: str) -> Categories:
    pool = draw(st.lists(st.integers(-99, 99) | texts, min_size=1, max_size=6))
    values = list({str(value).strip(" \t\n\r\v\f"): value for value in pool if str(value).strip()}.values()) or ["a"]
    return Categories(name=name, values=values, other=draw(st.none() | st.just("~other~")), missing=draw(missing))


@st.composite
def integers(draw: st.DrawFn, name: str) -> Integers:
    low = draw(st.integers(-(2**53), 2**53) | st.integers(-100, 100))
    width = draw(st.integers(1, 300) | st.integers(1, 2**54))
    high = min(low + width - 1, 2**53)
    bins = draw(st.none() | st.integers(1, min(high - low + 1, 1000)))
    bins = bins or (None if high - low < 1000 else 7)
    return Integers(name=name, low=low, high=high, bins=bins, missing=draw(missing))


@st.composite
def reals(draw: st.DrawFn, name: str) -> Reals:
    low = draw(st.floats(-1e6, 1e6))
    high = low + draw(st.floats(1e-3, 1e6))
    return Reals(name=name, low=low, high=high, bins=draw(st.integers(1, 64)), missing=draw(missing))


@st.composite
def dates(draw: st.DrawFn, name: str) -> Dates:
    low = draw(st.dates(date(1, 1, 1), date(9990, 1, 1)))
    width = draw(st.integers(1, 3000))
    bins = draw(st.none() | st.integers(1, width))
    return Dates(name=name, low=low, high=low + timedelta(width - 1), bins=bins, missing=draw(missing))


@st.composite
def attributes(draw: st.DrawFn) -> Attribute:
    name = draw(names)
    kind = draw(st.sampled_from([categories, integers, reals, dates]))
    return draw(st.one_of(kind(name), st.builds(Booleans, name=st.just(name), missing=missing)))


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.binary(max_size=4),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
    st.sampled_from(["nan", "-inf", "1e999", "2020-02-30", "2020-02-03", "TRUE", " 7 ", 10**400, -(10**400)]),
    st.sampled_from([pd.NA, pd.NaT, np.float32("nan"), np.int8(3), np.datetime64("2020-05-05"), object(), 1j]),
)


@given(attribute=attributes(), values=st.lists(junk, max_size=12))
@settings(max_examples=100, deadline=None)
def test_any_value_lands_in_a_cell(attribute: Attribute, values: list[object]) -> None:
    codes, misfits = attribute.encode(values)
    assert codes.dtype == attribute.dtype
    assert misfits.dtype == np.bool_
    assert len(codes) == len(misfits) == len(values)
    assert (codes < attribute.size).all()


@pytest.mark.exhaustive
@given(attribute=attributes(), seed=st.none() | st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_what_is_decoded_encodes_to_the_same_cell(attribute: Attribute, seed: int | None) -> None:
    codes = np.arange(attribute.size)
    generator = None if seed is None else np.random.default_rng(seed)
    values = attribute.decode(codes, generator)
    again, misfits = attribute.encode(values)
    if isinstance(attribute, Categories) and attribute.other is not None:
        misfits[attribute.regular] = False
    assert again.tolist() == codes.tolist()
    assert not misfits.any()
    as_text, _ = attribute.encode([None if pd.isna(value) else str(value) for value in values])
    assert as_text.tolist() == codes.tolist()


@pytest.mark.exhaustive
@given(columns=st.lists(attributes(), min_size=1, max_size=4, unique_by=lambda attribute: attribute.name))
@settings(max_examples=60, deadline=None)
def test_json_round_trip(columns: list[Attribute]) -> None:
    domain = Domain(tuple(columns))
    again = Domain.from_json(domain.to_json())
    assert again == domain
    assert again.digest == domain.digest
    assert hash(again) == hash(domain)


@given(attribute=integers("n"), values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_integers_floats_and_text_agree(attribute: Integers, values: list[int]) -> None:
    codes = attribute.encode(np.array(values))[0].tolist()
    assert attribute.encode(np.array(values, dtype=float))[0].tolist() == codes
    assert attribute.encode([str(value) for value in values])[0].tolist() == codes
    for value, code in zip(values, codes, strict=True):
        clipped = min(max(value, attribute.low), attribute.high)
        assert attribute.edges[code] <= clipped < attribute.edges[code + 1]


@given(attribute=integers("n"))
@settings(max_examples=60, deadline=None)
def test_integer_bins_cover_the_range_evenly(attribute: Integers) -> None:
    widths = np.diff(attribute.edges)
    assert (attribute.edges[0], attribute.edges[-1]) == (attribute.low, attribute.high + 1)
    assert widths.min() >= 1
    assert widths.max() - widths.min() <= 1


def test_numbers_outside_the_bounds_go_to_the_ends() -> None:
    values = [-1, 0, 9, 10, 99, 100, float("inf"), float("-inf"), 1e300]
    assert fitted(AGE, values) == [
        (0, True), (0, False), (0, False), (1, False), (9, False), (9, True), (9, True), (0, True), (9, True),
    ]  # fmt: skip
    assert fitted(AGE, np.array(values)) == fitted(AGE, values)
    weight = Reals(name="w", low=0, high=1, bins=4)
    assert fitted(weight, [0, 0.25, 0.2499, 1, 1.01, -5]) == [
        (0, False), (1, False), (0, False), (3, False), (3, True), (0, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "attribute",
    [AGE, Reals(name="x", low=1, high=2, bins=3), Booleans(name="x"), Dates(name="x", low=EPOCH, high=EPOCH)],
)
def test_null_and_unreadable(attribute: Attribute) -> None:
    values = [None, "", "  ", float("nan"), "abc", "1,5,0"]
    assert fitted(attribute, values) == [(0, True)] * 6
    declared = type(attribute)(**{**attribute.model_dump(), "missing": True})
    last = declared.size - 1
    assert fitted(declared, values) == [(last, False)] * 4 + [(last, True)] * 2


def test_fraction_in_a_whole_column_is_rounded_down() -> None:
    assert fitted(Integers(name="n", low=-2, high=2), [1.5, "-1.5", 2.0]) == [(3, True), (0, True), (4, False)]


def test_categories() -> None:
    values = ["a", " b ", "3", 3, 3.0, "3.0", "x", None, ""]
    plain = Categories(name="c", values=("a", "b", 3))
    assert fitted(plain, values) == [(0, False), (1, False), *[(2, False)] * 4, (0, True), (0, True), (0, True)]
    other = Categories(name="c", values=("a", "b", 3), other="else")
    assert fitted(other, values)[-3:] == [(3, True)] * 3
    absent = Categories(name="c", values=("a", "b", 3), missing=True)
    assert fitted(absent, values)[-3:] == [(3, True), (3, False), (3, False)]
    both = Categories(name="c", values=("a", "b", 3), other="else", missing=True)
    assert fitted(both, values)[-3:] == [(3, True), (4, False), (4, False)]
    assert [both.label(code) for code in range(5)] == ["a", "b", "3", "else", "missing"]


def test_booleans_in_every_spelling() -> None:
    yes, no = ["true", "T", "Yes", "y", "1", 1, True, 1.0], ["FALSE", "f", "no", "N", "0", 0, False, "0.0"]
    ill = Booleans(name="ill")
    assert [code for code, _ in fitted(ill, yes)] == [1] * 8
    assert fitted(ill, no) == [(0, False)] * 8
    assert fitted(ill, np.array([True, False])) == [(1, False), (0, False)]
    assert fitted(ill, pd.Series([True, None], dtype="boolean")) == [(1, False), (0, True)]


def test_dates_from_every_type() -> None:
    seen = Dates(name="seen", low="2020-01-01", high="2020-01-10")
    values = [date(2020, 1, 3), datetime(2020, 1, 3, 23, 59), "2020-01-03", "2020-01-03T10:00:00Z", "2020-01-03 1"]
    assert fitted(seen, values) == [(2, False)] * 5
    assert fitted(seen, np.array(["2020-01-03T23:00", "1960-01-01", "NaT"], dtype="datetime64[s]")) == [
        (2, False), (0, True), (0, True),
    ]  # fmt: skip
    assert fitted(seen, pd.Series(pd.to_datetime(["2020-01-03 10:00"]).tz_localize("UTC"))) == [(2, False)]
    assert fitted(seen, ["2020-1-3", "03.01.2020", "20200103", 3])[0:4] == [(0, True)] * 4


def test_other_number_types() -> None:
    values = [Decimal("12.0"), np.float32(12), np.int8(12), "12", b"12", "1_2"]
    assert fitted(AGE, values) == [(1, False)] * 6
    for series in (pd.Series([12, None], dtype="Int64"), pd.Series(["12", None]), pd.Series([12, np.nan])):
        assert fitted(AGE, series) == [(1, False), (0, True)]
    assert fitted(AGE, np.array([2**64 - 1, 5], dtype=np.uint64)) == [(9, True), (0, False)]
    assert fitted(AGE, pd.Series(["12", "x"], dtype="category")) == [(1, False), (0, True)]


def test_decoded_types() -> None:
    domain = everything()
    codes = np.stack([np.arange(12) % size for size in domain.sizes], axis=1)
    frame = domain.decode(codes, np.random.default_rng(0))
    assert list(frame.columns) == list(domain.names)
    assert frame.dtypes.astype(str).tolist() == [
        "str", "int64", "int64", "Int64", "float64", "boolean", "datetime64[s]",
    ]  # fmt: skip
    assert frame["town"].isna().tolist() == (codes[:, 0] == 4).tolist()
    assert frame["rooms"].isna().tolist() == (codes[:, 3] == 7).tolist()
    assert domain.decode(dict(zip(domain.names, codes.T, strict=True))).equals(domain.decode(codes))
    plain = Domain((Booleans(name="b"),)).decode(np.array([[0], [1]]))
    assert plain["b"].dtype == bool
    assert frame[["seen"]].iloc[:1].to_csv(index=False).split()[1][:7] == "2020-01"


def test_decoding_draws_uniformly_inside_the_bin_or_takes_the_middle() -> None:
    drawn = AGE.decode(np.full(20_000, 3), np.random.default_rng(5))
    counts = np.bincount(drawn - 30, minlength=10)
    assert counts.sum() == 20_000
    assert len(counts) == 10
    assert ((counts - 2000) ** 2 / 2000).sum() < 28  # chi-square with 9 degrees of freedom, 0.1 %
    assert AGE.decode([3])[0] == 34
    weight = Reals(name="w", low=0, high=8, bins=4, decimals=2)
    drawn = weight.decode(np.full(5000, 1), np.random.default_rng(5))
    assert drawn.between(2, 4).all()
    assert abs(drawn.mean() - 3) < 0.05
    assert np.allclose(drawn, drawn.round(2))
    assert weight.decode([1])[0] == 3


def test_wrong_codes_are_refused() -> None:
    for codes in ([10], [-1], [0.5], [[0]]):
        with pytest.raises(BadParameter, match="age"):
            AGE.decode(codes)
    domain = everything()
    for wrong in (np.zeros((2, 3), int), np.zeros(7, int), {"age": [1]}):
        with pytest.raises(BadParameter):
            domain.decode(wrong)
    with pytest.raises(BadSchema, match="nobody"):
        domain.decode({"nobody": [1]})


def test_labels_and_centers() -> None:
    assert [AGE.label(code) for code in (0, 9)] == ["0 to 9", "90 to 99"]
    assert Integers(name="n", low=3, high=5).label(1) == "4"
    assert Reals(name="r", low=0, high=0.9, bins=3, missing=True).label(1) == "0.3 to 0.6"
    assert Dates(name="d", low="2020-01-01", high="2020-01-04", bins=2).label(1) == "2020-01-03 to 2020-01-04"
    assert [Booleans(name="b", missing=True).label(code) for code in range(3)] == ["false", "true", "missing"]
    assert AGE.centers().tolist() == [4.5 + 10 * code for code in range(10)]
    assert np.isnan(Reals(name="r", low=0, high=2, bins=2, missing=True).centers()).tolist() == [False, False, True]
    assert Dates(name="d", low="1970-01-01", high="1970-01-03").centers().tolist() == [0, 1, 2]
    with pytest.raises(BadSchema, match="town"):
        everything()["town"].centers()


def test_kinds_say_what_they_are() -> None:
    domain = everything()
    assert [attribute.ordered for attribute in domain] == [False, False, True, True, True, False, True]
    assert [attribute.numeric for attribute in domain] == [False, False, True, True, True, False, False]
    assert domain.sizes == (5, 3, 10, 8, 17, 3, 13)
    assert [Integers(name="n", low=1, high=top).dtype.itemsize for top in (256, 257, 65536, 65537)] == [1, 2, 2, 4]


def test_domain_of_200_columns_is_larger_than_any_machine_word() -> None:
    domain = Domain(tuple(Integers(name=f"column {place}", low=1, high=1000) for place in range(200)))
    assert domain.cells() == 1000**200
    assert domain.cells(["column 3", "column 5"]) == 10**6
    assert domain.shape(()) == ()
    assert domain.cells(()) == 1
    assert len(domain) == 200
    assert "column 7" in domain
    assert "nobody" not in domain
    assert domain.project(["column 9", "column 2"]).names == ("column 9", "column 2")
    assert Domain.from_json(domain.to_json()) == domain
    codes = np.random.default_rng(1).integers(0, 1000, (50, 200))
    assert (domain.decode(codes).to_numpy() == codes + 1).all()


def test_digest_depends_on_everything_declared() -> None:
    digests = {
        Domain((attribute,)).digest
        for attribute in (
            AGE,
            Integers(name="age", low=0, high=99, bins=11),
            Integers(name="age", low=0, high=99, bins=10, missing=True),
            Integers(name="age", low=0, high=99, bins=10, note="law"),
            Integers(name="Age", low=0, high=99, bins=10),
        )
    }
    assert len(digests) == 5


def test_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        AGE.low = 5  # type: ignore[misc]
    with pytest.raises(AttributeError):
        everything().attributes = ()  # type: ignore[misc]
