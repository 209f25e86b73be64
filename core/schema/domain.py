"""The public schema of a table: its columns in order, how large it is, and how codes become records again.

Nothing here ever looks at data. The schema is written down, signed with a digest, and published with every release.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from core.base.errors import BadParameter, BadSchema, printable
from core.schema.attributes import MAX_CELLS, Attribute, Booleans, Categories
from core.schema.guesses import draft
from core.schema.ordered import Dates, Integers, Reals

__all__ = ["MAX_CELLS", "Attribute", "Booleans", "Categories", "Dates", "Domain", "Integers", "Reals", "draft"]

MAX_COLUMNS = 10_000
MAX_RULES, MAX_RULE = 2_000, 2_000
"""Rules of a schema, and characters of one of them."""
MAX_JSON = 64_000_000
"""Characters of a schema file: ten times a million categories of six letters."""
KINDS: dict[str, type[Attribute]] = {
    "categories": Categories,
    "integers": Integers,
    "reals": Reals,
    "booleans": Booleans,
    "dates": Dates,
}


@dataclass(frozen=True)
class Domain:
    """The columns of a table in order.

    >>> people = Domain((Integers(name="age", low=0, high=99, bins=10), Booleans(name="ill")))
    >>> people.names, people.shape(), people.cells()
    (('age', 'ill'), (10, 2), 20)
    """

    attributes: tuple[Attribute, ...]
    rules: tuple[str, ...] = ()
    """Publicly known facts about every record, as they are written; `core/rules` reads them. Never from the data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "rules", _rules(self.rules))
        if not all(isinstance(attribute, Attribute) for attribute in self.attributes):
            raise BadSchema("A schema is a list of columns: Categories, Integers, Reals, Booleans or Dates.")
        if not self.attributes:
            raise BadSchema("The schema has no columns; declare at least one.")
        if len(self.attributes) > MAX_COLUMNS:
            raise BadSchema(f"The schema has {len(self.attributes):,} columns; use at most {MAX_COLUMNS:,}.")
        name, often = Counter(attribute.name for attribute in self.attributes).most_common(1)[0]
        if often > 1:
            raise BadSchema(f"Column '{printable(name)}' is declared {often} times; column names must differ.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each column."""
        return tuple(attribute.size for attribute in self.attributes)

    @cached_property
    def _size_of(self) -> dict[str, int]:
        """Pages over wide tables ask for the sizes of some pairs ten thousand times at every click."""
        return dict(zip(self.names, self.sizes, strict=True))

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Attribute:
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            raise BadSchema(f"The schema has no column '{printable(name)}'.") from None

    def shape(self, columns: Sequence[str] | None = None) -> tuple[int, ...]:
        """Shape of the table of counts over these columns (all of them if none are named)."""
        if columns is None:
            return self.sizes
        try:
            return tuple([self._size_of[column] for column in columns])
        except (KeyError, TypeError):
            # The one that is unknown says so.
            return tuple(self[column].size for column in columns)

    def cells(self, columns: Sequence[str] | None = None) -> int:
        """Number of cells of that table; exact, however large."""
        return math.prod(self.shape(columns))

    def project(self, columns: Sequence[str]) -> Domain:
        """The schema of these columns only, in the given order, with the rules that name no other column."""
        kept = tuple(self[column] for column in columns)
        if not self.rules:
            return Domain(kept)
        left_out = [name for name in self.names if name not in set(columns)]
        return Domain(kept, tuple(rule for rule in self.rules if not _names_any(rule, left_out)))

    def obeying(self, rules: Iterable[str]) -> Domain:
        """The same columns with these rules."""
        return Domain(self.attributes, tuple(rules))

    def decode(self, codes: Any, generator: np.random.Generator | None = None) -> pd.DataFrame:
        """Records in the original names and types from codes: one row per record, or a mapping from name to codes."""
        if isinstance(codes, Mapping):
            for name in codes:
                self[name]
            if len(codes) != len(self):
                raise BadParameter("codes", "must hold every column of the schema.")
            columns = {name: np.asarray(codes[name]) for name in self.names}
        else:
            array = np.asarray(codes)
            if array.ndim != 2 or array.shape[1] != len(self):
                raise BadParameter("codes", f"must be a table with {len(self):,} columns.")
            columns = {name: array[:, place] for place, name in enumerate(self.names)}
        if len({column.shape for column in columns.values()}) != 1:
            raise BadParameter("codes", "must have the same number of rows in every column.")
        decoded = {name: self[name].decode(column, generator) for name, column in columns.items()}
        return pd.DataFrame(decoded, copy=False)

    def to_list(self) -> list[dict[str, Any]]:
        """The columns as plain data, settings at their default left out."""
        return [
            {"kind": attribute.kind, **attribute.model_dump(mode="json", exclude_defaults=True)}
            for attribute in self.attributes
        ]

    @classmethod
    def from_list(cls, columns: Iterable[Any]) -> Domain:
        """A schema from plain data: one mapping per column with its kind and settings."""
        return cls(tuple(_attribute(place, column) for place, column in enumerate(columns, start=1)))

    def to_json(self) -> str:
        """As a file; one without rules is written as it was before there were any."""
        rules = {"rules": list(self.rules)} if self.rules else {}
        return json.dumps({"columns": self.to_list(), **rules}, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Domain:
        """A schema from its JSON text; anything malformed is one sentence that names the column."""
        if len(text) > MAX_JSON:
            raise BadSchema(f"The schema has {len(text):,} characters; use at most {MAX_JSON:,}.")
        try:
            data = json.loads(text, object_pairs_hook=_once)
        except BadSchema:
            raise
        except (ValueError, TypeError, RecursionError):
            raise BadSchema("The schema is not valid JSON.") from None
        lists = isinstance(data, dict) and all(isinstance(part, list) for part in data.values())
        if not lists or not {"columns"} <= set(data) <= {"columns", "rules"}:
            raise BadSchema("The schema must be a JSON object with a list called 'columns', and one of 'rules' if any.")
        if len(data["columns"]) > MAX_COLUMNS:
            raise BadSchema(f"The schema has {len(data['columns']):,} columns; use at most {MAX_COLUMNS:,}.")
        return cls.from_list(data["columns"]).obeying(data.get("rules", ()))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON; two schemas with the same digest are the same schema."""
        content = {"columns": self.to_list(), "rules": self.rules} if self.rules else self.to_list()
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def _rules(found: Iterable[object]) -> tuple[str, ...]:
    """Texts of one line each, without blanks around them; empty ones are left out."""
    rules = tuple(found)
    for place, rule in enumerate(rules, start=1):
        if not isinstance(rule, str) or len(rule) > MAX_RULE or not rule.isprintable():
            raise BadSchema(f"Rule number {place} of the schema must be one line of at most {MAX_RULE:,} characters.")
    if len(rules) > MAX_RULES:
        raise BadSchema(f"The schema has {len(rules):,} rules; use at most {MAX_RULES:,}.")
    return tuple(text for rule in rules if (text := str(rule).strip()))


def _names_any(rule: str, columns: Iterable[str]) -> bool:
    return any(names_column(rule, name) for name in columns)


def names_column(rule: str, column: str) -> bool:
    """Whether a rule may name this column: its name stands there as a word, or in quotes.

    A value that is called like a column counts too; the rule is then left out where it could have stayed.
    """
    return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", rule.replace('""', '"')) is not None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that gives a setting twice: readers would disagree about which one counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = found.get("name")
        raise BadSchema(f"Column '{printable(name)}' gives a setting twice; keep one of them.")
    return found


def _attribute(place: int, column: Any) -> Attribute:
    if not isinstance(column, Mapping) or not all(isinstance(key, str) for key in column):
        raise BadSchema(f"Column number {place} of the schema must be an object with a name and a kind.")
    name, kind = column.get("name"), column.get("kind")
    if not isinstance(name, str) or not name.strip():
        raise BadSchema(f"Column number {place} of the schema needs a name.")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadSchema(f"Column '{printable(name)}' needs a kind: {', '.join(KINDS)}.")
    return KINDS[kind](**column)
