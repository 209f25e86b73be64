"""Columns with an order: whole numbers, real numbers and dates between public bounds, cut into bins."""

from __future__ import annotations

from datetime import date, datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BeforeValidator, model_validator

from core.base.arrays import Flags
from core.schema.attributes import MAX_CELLS, Attribute, StoredCodes
from core.schema.spellings import EPOCH, by_number, days, integral, number

EXACT = 2**53
"""Whole numbers up to here are exact as floats, so text, integers and floats fall into the same cell."""


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number) or not integral(value):
        raise ValueError("must be a whole number")
    if abs(int(value)) > EXACT:
        raise ValueError("must lie between minus and plus 9,007,199,254,740,992")
    return int(value)


def _real(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise ValueError("must be a number")
    if not -1e300 <= value <= 1e300:
        raise ValueError("must be a finite number")
    return float(value)


def _day(value: object) -> date:
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    if isinstance(value, str) and len(value) == 10 and days(value) is not None:
        return date.fromisoformat(value)
    raise ValueError("must be a date such as 2024-12-31")


Whole = Annotated[int, BeforeValidator(_whole)]
Real = Annotated[float, BeforeValidator(_real)]
Day = Annotated[date, BeforeValidator(_day)]


def _bins(bins: int | None, bits: int | None) -> int | None:
    """The number of bins that was asked for, if any."""
    if bins is not None and bits is not None:
        raise ValueError("takes bins or bits, not both")
    if bins is not None and not 1 <= bins <= MAX_CELLS:
        raise ValueError(f"needs from 1 to {MAX_CELLS:,} bins")
    if bits is not None and not 0 <= bits <= 19:
        raise ValueError("needs from 0 to 19 bits")
    return 2**bits if bits is not None else bins


def _check_whole(low: int, high: int, bins: int | None) -> None:
    if low > high:
        raise ValueError("has a low bound above its high bound")
    if bins is not None and bins > high - low + 1:
        raise ValueError(f"has only {high - low + 1:,} values for {bins:,} bins; use fewer bins or wider bounds")


def _cut(low: int, high: int, bins: int | None) -> NDArray[np.int64]:
    """First value of each bin, and one past the last: bin i starts at low + floor(i * width / bins)."""
    width = high - low + 1
    bins = bins or width
    step = np.arange(bins + 1, dtype=np.int64)
    return low + step * (width // bins) + step * (width % bins) // bins  # in two parts: step * width can pass 2^63


def _clip(numbers: NDArray[Any], low: float, high: float) -> tuple[NDArray[Any], Flags, Flags | None]:
    """Numbers moved between the bounds, which ones were moved, and which are null (moved to low for now)."""
    if numbers.dtype.kind in "bi" or numbers.dtype in (np.uint8, np.uint16, np.uint32):
        numbers, null = numbers.astype(np.int64, copy=False), None
    else:
        numbers = numbers.astype(np.float64, copy=False)
        null = np.isnan(numbers)
        if null.any():
            numbers = np.where(null, low, numbers)
        else:
            null = None
    inside = np.clip(numbers, low, high)
    return inside, inside != numbers, null


def _finish(
    attribute: Attribute, codes: NDArray[Any], misfits: Flags, null: Flags | None, unread: Flags | None
) -> tuple[StoredCodes, Flags]:
    codes = codes.astype(attribute.dtype)
    if null is not None:
        codes[null] = attribute.null
        misfits = misfits & ~null if attribute.missing else misfits | null
    return codes, misfits if unread is None else misfits | unread


def _whole_codes(edges: NDArray[Any], inside: NDArray[Any]) -> NDArray[Any]:
    if edges[-1] - edges[0] == len(edges) - 1:
        return inside - edges[0]
    return np.searchsorted(edges[1:-1], inside, side="right")


def _draw_whole(
    edges: NDArray[Any], codes: NDArray[np.intp], generator: np.random.Generator | None
) -> NDArray[np.int64]:
    places = np.minimum(codes, len(edges) - 2)  # 'missing' has no bin of its own; the caller blanks it
    first, last = edges[:-1][places], edges[1:][places] - 1
    return first + (last - first) // 2 if generator is None else generator.integers(first, last, endpoint=True)


def _middles(edges: NDArray[Any], last: int, missing: bool) -> NDArray[np.float64]:
    """Middle of each bin; `last` is how far the end of a bin lies beyond its last value."""
    middles = edges[:-1] + (edges[1:] - last - edges[:-1]) / 2
    return np.append(middles, np.nan) if missing else middles


class Integers(Attribute):
    """Whole numbers from `low` to `high`, both included: one cell each, or `bins` (2**`bits`) bins of near-equal width.

    Decoding gives int64, or Int64 with NA where 'missing' is declared; files hold int64 or the declared `storage`.

    >>> Integers(name="age", low=0, high=99, bins=10).label(3)
    '30 to 39'
    """

    ordered: ClassVar[bool] = True
    numeric: ClassVar[bool] = True
    kind: Literal["integers"] = "integers"
    low: Whole
    high: Whole
    bins: Whole | None = None
    bits: Whole | None = None
    storage: Literal["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        bins = _bins(self.bins, self.bits)
        _check_whole(self.low, self.high, bins)
        if bins is None and self.high - self.low >= MAX_CELLS:
            raise ValueError(f"has {self.high - self.low + 1:,} values; use bins, at most {MAX_CELLS:,}")
        held = np.iinfo(self.stored)
        if not held.min <= self.low <= self.high <= held.max:
            raise ValueError(f"has bounds that {self.stored} cannot hold; use a wider storage")
        return self

    @property
    def stored(self) -> str:
        return self.storage or "int64"

    @property
    def regular(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def edges(self) -> NDArray[Any]:
        """The first value of each bin, and the end of the last one."""
        return _cut(self.low, self.high, _bins(self.bins, self.bits))

    def encode(self, values: Any) -> tuple[StoredCodes, Flags]:
        numbers, unread = _numbers(values)
        inside, moved, null = _clip(numbers, self.low, self.high)
        if inside.dtype.kind == "f":
            whole = np.floor(inside).astype(np.int64)
            moved = moved | (whole != inside)
            inside = whole
        return _finish(self, _whole_codes(self.edges, inside), moved, null, unread)

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.Series:
        codes = self._checked(codes)
        values = _draw_whole(self.edges, codes, generator)
        if self.missing:
            return pd.Series(pd.arrays.IntegerArray(values, codes == self.regular), name=self.name)
        return pd.Series(values, name=self.name)

    def label(self, code: int) -> str:
        if code == self.regular:
            return "missing"
        first, last = self.edges[code], self.edges[code + 1] - 1
        return f"{first}" if first == last else f"{first} to {last}"

    def centers(self) -> NDArray[np.float64]:
        return _middles(self.edges, 1, self.missing)


class Reals(Attribute):
    """Real numbers from `low` to `high` in `bins` (2**`bits`) bins of equal width.

    A bin holds its left end, the last one both. Decoding gives float64 (NaN for 'missing'), rounded to `decimals` where
    given; rounding may cross the end of a bin, never a bound. Files hold float64 or the declared `storage`.
    """

    ordered: ClassVar[bool] = True
    numeric: ClassVar[bool] = True
    kind: Literal["reals"] = "reals"
    low: Real
    high: Real
    bins: Whole | None = None
    bits: Whole | None = None
    decimals: Whole | None = None
    storage: Literal["float32", "float64"] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.low < self.high:
            raise ValueError("needs a low bound below its high bound")
        if self.decimals is not None and not 0 <= self.decimals <= 15:
            raise ValueError("needs from 0 to 15 decimals")
        if max(-self.low, self.high) > float(np.finfo(self.stored).max):
            raise ValueError(f"has bounds that {self.stored} cannot hold; use a wider storage")
        bins = _bins(self.bins, self.bits)
        if bins is None:
            raise ValueError("needs bins or bits: into how many steps its range is cut")
        if not (np.diff(np.linspace(self.low, self.high, bins + 1)) > 0).all():
            raise ValueError("has bounds too close together for so many bins")
        return self

    @property
    def stored(self) -> str:
        return self.storage or "float64"

    @property
    def regular(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def edges(self) -> NDArray[Any]:
        """The first value of each bin, and the end of the last one."""
        return np.linspace(self.low, self.high, (_bins(self.bins, self.bits) or 1) + 1)

    def encode(self, values: Any) -> tuple[StoredCodes, Flags]:
        numbers, unread = _numbers(values)
        inside, moved, null = _clip(numbers, self.low, self.high)
        return _finish(self, np.searchsorted(self.edges[1:-1], inside, side="right"), moved, null, unread)

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.Series:
        codes = self._checked(codes)
        places = np.minimum(codes, self.regular - 1)
        first, last = self.edges[:-1][places], self.edges[1:][places]
        share = 0.5 if generator is None else generator.random(len(codes))
        values = first + (last - first) * share
        if self.decimals is not None:
            values = np.clip(np.round(values, self.decimals), self.low, self.high)
        values[codes == self.regular] = np.nan
        return pd.Series(values, name=self.name)

    def label(self, code: int) -> str:
        return "missing" if code == self.regular else f"{self.edges[code]:.10g} to {self.edges[code + 1]:.10g}"

    def centers(self) -> NDArray[np.float64]:
        return _middles(self.edges, 0, self.missing)


class Dates(Attribute):
    """Days from `low` to `high`, both included: one cell each, or `bins` bins of nearly equal length.

    A time of day is ignored. Text is read as ISO 8601 (2024-12-31, with or without a time). Decoding gives
    datetime64[s] at midnight, which pandas writes as plain dates; NaT for 'missing'. Parquet files hold days, or
    moments at midnight where the `storage` is 'timestamp'.
    """

    ordered: ClassVar[bool] = True
    kind: Literal["dates"] = "dates"
    low: Day
    high: Day
    bins: Whole | None = None
    storage: Literal["date", "timestamp"] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = self.low.toordinal(), self.high.toordinal()
        _check_whole(low, high, _bins(self.bins, None))
        if self.bins is None and high - low >= MAX_CELLS:
            raise ValueError(f"has {high - low + 1:,} days; use bins, at most {MAX_CELLS:,}")
        return self

    @property
    def stored(self) -> str:
        return "timestamp[us]" if self.storage == "timestamp" else "date32[day]"

    @property
    def regular(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def edges(self) -> NDArray[Any]:
        """The first value of each bin, and the end of the last one."""
        return _cut(self.low.toordinal() - EPOCH, self.high.toordinal() - EPOCH, self.bins)

    def encode(self, values: Any) -> tuple[StoredCodes, Flags]:
        numbers, unread = _day_numbers(values)
        inside, moved, null = _clip(numbers, int(self.edges[0]), int(self.edges[-1]) - 1)
        return _finish(self, _whole_codes(self.edges, np.floor(inside).astype(np.int64)), moved, null, unread)

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.Series:
        codes = self._checked(codes)
        values = _draw_whole(self.edges, codes, generator).astype("datetime64[D]").astype("datetime64[s]")
        values[codes == self.regular] = np.datetime64("NaT")
        return pd.Series(values, name=self.name)

    def label(self, code: int) -> str:
        if code == self.regular:
            return "missing"
        first, last = (date.fromordinal(int(day) + EPOCH) for day in (self.edges[code], self.edges[code + 1] - 1))
        return f"{first}" if first == last else f"{first} to {last}"

    def centers(self) -> NDArray[np.float64]:
        return _middles(self.edges, 1, self.missing)


def _numbers(values: Any) -> tuple[NDArray[Any], Flags | None]:
    """Values as an array of numbers, and which could not be read; arrays of numbers pass unchanged."""
    if isinstance(values, pd.Series | pd.Index) and isinstance(values.dtype, np.dtype):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values, None
    return by_number(values, number)


def _day_numbers(values: Any) -> tuple[NDArray[Any], Flags | None]:
    if isinstance(values, pd.Series | pd.Index) and isinstance(values.dtype, np.dtype):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        whole = values.astype("datetime64[D]")
        return np.where(np.isnat(whole), np.nan, whole.astype(np.int64).astype(np.float64)), None
    return by_number(values, days)
