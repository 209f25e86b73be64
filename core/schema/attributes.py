"""The columns of a public schema: what values exist, how they become small integers, and how they come back.

Every attribute is a finite list of cells: the ordinary ones `0 .. regular-1`, then 'other', then 'missing', where these
are declared. `encode` follows fixed rules that never look at the data, and never raises:

* a number or date below `low` goes to the first cell, above `high` to the last one (infinities too);
* null, empty text, NaN, and what is not a number (date, yes/no) go to 'missing' where declared, else to the first cell;
* an undeclared category goes to 'other', else to 'missing', else to the first value; so does null, 'missing' first;
* a fraction in a column of whole numbers is rounded down; blanks around text do not count.

`misfits` marks every value that such a rule changed; a null that lands in a declared 'missing' cell is not a misfit.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, StrictStr, ValidationError, model_validator

from core.base.arrays import Flags
from core.base.errors import BadParameter, BadSchema, printable
from core.schema.spellings import by_value, integral, number, spellings, text_of

MAX_CELLS = 2**20
"""Most cells of one column: a table of counts over one column must stay small enough to hold."""

StoredCodes = NDArray[np.unsignedinteger[Any]]


def _words(text: object) -> object:
    if isinstance(text, str) and any("\ud800" <= character <= "\udfff" or character == "\0" for character in text):
        raise ValueError("must be valid text")
    return text


def _value(value: object) -> str | int:
    if isinstance(value, str):
        _words(value)
        if not text_of(value):
            raise ValueError("must not contain an empty text; declare missing instead")
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise ValueError("must be texts or whole numbers")


Words = Annotated[StrictStr, BeforeValidator(_words)]
Value = Annotated[str | int, BeforeValidator(_value)]


def _sentence(name: object, problem: ValidationError) -> str:
    """The first thing that is wrong, in one sentence that names the column."""
    first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
    field = printable(first["loc"][0]) if first["loc"] else ""
    column = f"Column '{printable(name)}'" if isinstance(name, str) and name else "A column without a name"
    if first["type"] == "missing":
        return f"{column} needs '{field}'."
    if first["type"] == "extra_forbidden":
        return f"{column} has the unknown setting '{field}'; remove it."
    if first["type"] == "value_error":
        return f"{column}: {field} {first['msg'].removeprefix('Value error, ')}.".replace(":  ", " ")
    return f"{column}: {field} is of the wrong type ({first['msg'][0].lower() + first['msg'][1:]})."


class Attribute(BaseModel):
    """One column of the public schema. Use one of the five kinds below."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    ordered: ClassVar[bool] = False
    """Whether neighbouring codes are neighbouring values, so that intervals of codes mean something."""
    numeric: ClassVar[bool] = False
    """Whether values are numbers, so that sums and means make sense."""

    kind: str
    name: Words
    missing: StrictBool = False
    note: Words = ""
    """Where the bounds or the list of values come from (a form, a law, a code book): never from the data."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as problem:
            raise BadSchema(_sentence(fields.get("name"), problem)) from None
        if not self.name.strip() or len(self.name) > 1000:
            raise BadSchema("Every column needs a name of 1 to 1,000 characters.")
        if self.size > MAX_CELLS:
            raise BadSchema(f"Column '{printable(self.name)}' has {self.size:,} cells; use at most {MAX_CELLS:,}.")

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, field) for field in type(self).model_fields)

    def __eq__(self, other: object) -> bool:
        # by declared fields only: pydantic would also compare cached arrays
        return isinstance(other, Attribute) and type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    @property
    def regular(self) -> int:
        """Number of ordinary cells, without 'other' and 'missing'."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Number of cells, 'other' and 'missing' included."""
        return self.regular + self.missing

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer type that holds every code."""
        return np.min_scalar_type(self.size - 1)

    @property
    def stored(self) -> str:
        """Arrow's name of the type that released values have; the schema alone decides it, not the private table."""
        raise NotImplementedError

    @property
    def null(self) -> int:
        """The cell of null and unreadable values."""
        return self.size - 1 if self.missing else 0

    def encode(self, values: Any) -> tuple[StoredCodes, Flags]:
        """Codes of a one-dimensional array, Series or list, and which of them the rules had to change."""
        raise NotImplementedError

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.Series:
        """Values of the original type; inside a bin drawn uniformly, or without a generator its midpoint."""
        raise NotImplementedError

    def label(self, code: int) -> str:
        """A cell in plain words, such as '30 to 39' or 'missing'."""
        raise NotImplementedError

    def centers(self) -> NDArray[np.float64]:
        """Middle of each cell as a number (dates: days since 1970-01-01), NaN for 'missing'; ordered columns only."""
        raise BadSchema(f"Column '{printable(self.name)}' has no order; use a column of numbers or dates.")

    def _checked(self, codes: Any) -> NDArray[np.intp]:
        array = np.asarray(codes)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise BadParameter("codes", f"column '{printable(self.name)}' needs a one-dimensional array of integers.")
        if array.size and (int(array.min()) < 0 or int(array.max()) >= self.size):
            raise BadParameter("codes", f"column '{printable(self.name)}' has the codes 0 to {self.size - 1:,} only.")
        return array.astype(np.intp)


class Categories(Attribute):
    """A closed list of texts or whole numbers.

    Values are compared as text, so 3, '3', '3.0' and 3.0 are the same; 1.50 is 1.5 unless both are declared. A yes or
    no that is no text is 1 or 0, and such a number is 'true' or 'false' where 1 or 0 is not declared. Decoding
    gives int64 (Int64 with 'missing') when all values are whole numbers and no 'other' is declared, text otherwise.

    >>> Categories(name="sex", values=("F", "M"), missing=True).encode(["M", "", "x"])[0].tolist()
    [1, 2, 2]
    """

    kind: Literal["categories"] = "categories"
    values: tuple[Value, ...]
    other: Words | None = None
    """What the cell for all undeclared values is called; None means there is no such cell."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.values:
            raise ValueError("needs at least one value: list its categories, or choose another kind")
        if self.other is not None and not text_of(self.other):
            raise ValueError("needs a name for its 'other' cell")
        texts = [text_of(value) for value in self.values] + ([] if self.other is None else [text_of(self.other)])
        if len(set(texts)) < len(texts):
            raise ValueError("lists a value twice")
        return self

    @property
    def regular(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        return self.regular + (self.other is not None) + self.missing

    @cached_property
    def _places(self) -> dict[str, int]:
        exact = {text_of(value): code for code, value in enumerate(self.values)}
        # the first of two values that are spelled alike wins, and what is declared wins over a second spelling
        others = [(other, code) for text, code in exact.items() for other in spellings(text)]
        return {**dict(reversed(others)), **exact}

    def _place(self, value: object) -> tuple[int, bool]:
        text = text_of(value)
        found = next((self._places[each] for each in spellings(value) if each in self._places), None)
        if found is None and self._whole and (parsed := number(text)) is not None and integral(parsed):
            found = self._places.get(str(int(parsed)))
        if found is not None:
            return found, False
        if not text and self.missing:
            return self.null, False
        return (self.regular if self.other is not None else self.null), True

    @cached_property
    def _whole(self) -> bool:
        return any(isinstance(value, int) for value in self.values)

    @property
    def stored(self) -> str:
        numbers = all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in self.values)
        return "int64" if numbers and self.other is None else "large_string"

    def encode(self, values: Any) -> tuple[StoredCodes, Flags]:
        return by_value(values, self._place, self.dtype)

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.Series:
        codes = self._checked(codes)
        values: list[Any] = [*self.values, *([] if self.other is None else [self.other])]
        if self.stored == "int64":
            dtype = "Int64" if self.missing else "int64"
        else:
            values, dtype = [str(value) for value in values], "str"
        table = pd.Series([*values, *([None] if self.missing else [])], dtype=dtype, name=self.name)
        return table.take(codes).reset_index(drop=True)

    def label(self, code: int) -> str:
        if self.missing and code == self.size - 1:
            return "missing"
        return str(self.other if code == self.regular else self.values[code])


class Booleans(Attribute):
    """Yes or no: cell 0 is false, 1 is true. Accepts true/false, t/f, yes/no, y/n, 1/0 and 1.0/0.0 in any case."""

    kind: Literal["booleans"] = "booleans"
    _words: ClassVar[dict[str, int]] = dict.fromkeys(("false", "f", "no", "n", "0"), 0) | dict.fromkeys(
        ("true", "t", "yes", "y", "1"), 1
    )

    @property
    def regular(self) -> int:
        return 2

    @property
    def stored(self) -> str:
        return "bool"

    def _place(self, value: object) -> tuple[int, bool]:
        words = [text.lower() for text in spellings(value)]
        found = next((self._words[word] for word in words if word in self._words), None)
        return (self.null, not (self.missing and not words[0])) if found is None else (found, False)

    def encode(self, values: Any) -> tuple[StoredCodes, Flags]:
        if isinstance(values, np.ndarray) and values.dtype == np.bool_:
            return values.astype(self.dtype), np.zeros(len(values), dtype=np.bool_)
        return by_value(values, self._place, self.dtype)

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.Series:
        codes = self._checked(codes)
        if not self.missing:
            return pd.Series(codes == 1, name=self.name)
        return pd.Series(pd.arrays.BooleanArray(codes == 1, codes == 2), name=self.name)

    def label(self, code: int) -> str:
        return ("false", "true", "missing")[code]
