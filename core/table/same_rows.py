"""Whether two tables hold the same rows, in whatever order, format or choice of columns: the curator's own question.

A sketch keeps short hashes of the cells of some rows, and how often each value of a column with few of them occurs. It
is as private as the rows: it stays in the workspace, and what follows from it is shown to the curator alone.

**Rows.** Of a table T let N1 and N2 be the numbers of combinations of values that occur once and twice. Of its own n
rows a share of N1/n stands alone. A fresh draw from the same people meets a combination that T has exactly once with
probability about 2 N2/n (Good and Turing), which in a table of many columns is nearly 0. So rows that stand alone in
both tables are the same rows: the share f of them follows from hits = f N1/n + (1 - f) 2 N2/n. Equal rows in small
tables of categories are no evidence, because there nearly nothing stands alone.

**Columns.** Where nothing stands alone, counts tell: those of two samples of the same people differ by about the square
root of their size, those of the same rows hardly.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtrc

from core.schema.spellings import moment, number_in, text_of
from core.table.formats.value_memory import ValueMemory
from core.table.row_source import RowPiece, Rows

Marks = NDArray[np.uint32]
NOTHING = np.zeros(0, dtype=np.uint32)
NULL = 0
"""The mark of an empty cell."""

MOST_COMPARED_ROWS = 100_000
"""Rows of a table that others are looked for in, at most; of larger ones every so many-th."""
MOST_KEPT_ROWS = 20_000
"""Rows that are kept for later: 80 kB for each column."""
FEW = 1_000
"""Different values of a column up to which its counts are kept."""
LEAST_SHARED = 0.3
"""Of the smaller table: from here on two tables count as tables of the same rows."""
CHANCE = 1e-4
"""How likely such a likeness may be by chance."""
CLOSE = 0.1
"""How much less than by chance counts must differ to be those of the same rows."""
BY_CHANCE = 8
"""Hashes of different values that two columns with many of them may have in common; on average it is a half at most."""


@dataclass(frozen=True, eq=False)
class RowSketch:
    """The rows of one table as hashes. Private."""

    rows: int = field(repr=False)
    marks: Mapping[str, Marks] = field(repr=False)
    """By column, of the same rows in each."""
    counts: Mapping[str, Mapping[int, int]] = field(repr=False)
    """Rows per value, of all rows, for columns with few values."""

    @classmethod
    def of(cls, rows: Rows, names: Sequence[str], count: int, key: str) -> RowSketch:
        """The sketch of some columns that are taken; only sketches with the same key can be compared."""
        drawing = SketchDrawing({name: name for name in names}, count, key)
        for piece in rows.pieces(list(dict.fromkeys(names))):
            drawing.add(piece)
        return drawing.sketch()

    @classmethod
    def of_counts(cls, columns: Mapping[str, Mapping[object, int]], rows: int, key: str) -> RowSketch:
        """The sketch of a table of which no row is seen: how often each value of some columns occurs."""
        counts = {_plain(name): _often(of, key) for name, of in columns.items()}
        few = {name: dict(sorted(of.items())) for name, of in counts.items() if len(of) <= FEW}
        return cls(rows, dict.fromkeys(few, NOTHING), few)

    def thinned(self) -> RowSketch:
        """The part that is kept."""
        held = len(next(iter(self.marks.values()), ()))
        chosen = _spread(held, MOST_KEPT_ROWS)
        return RowSketch(self.rows, {name: marks[chosen] for name, marks in self.marks.items()}, self.counts)

    def to_bytes(self) -> bytes:
        buffer = io.BytesIO()
        facts = json.dumps({"rows": self.rows, "names": list(self.marks), "counts": self.counts})
        arrays: dict[str, Any] = {f"c{place}": marks for place, marks in enumerate(self.marks.values())}
        np.savez(buffer, facts=np.array(facts), **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, stored: bytes) -> RowSketch:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            facts = json.loads(str(arrays["facts"]))
            marks = {name: arrays[f"c{place}"] for place, name in enumerate(facts["names"])}
        counts = {name: {int(value): int(often) for value, often in of.items()} for name, of in facts["counts"].items()}
        return cls(facts["rows"], marks, counts)


class SketchDrawing:
    """A sketch that is made while rows are read, piece by piece."""

    def __init__(self, names: Mapping[str, str], count: int, key: str) -> None:
        """Columns by the names that they have in pieces, each with the one that it is remembered by."""
        self._columns = [_ColumnSketch(name, _plain(known), key) for name, known in names.items()]
        self._count = count
        self._step = -(-count // MOST_COMPARED_ROWS)
        self._read = 0

    def add(self, piece: RowPiece) -> None:
        for column in self._columns:
            column.add(piece, slice(-self._read % self._step, None, self._step))
        self._read += piece.count

    def sketch(self) -> RowSketch:
        marks = {column.known: np.concatenate([NOTHING, *column.marks]) for column in self._columns}
        counts = {column.known: dict(sorted(column.counts.items())) for column in self._columns if column.counts}
        return RowSketch(self._count, marks, counts)


class _ColumnSketch:
    def __init__(self, name: str, known: str, key: str) -> None:
        self.name, self.known = name, known
        self._memory = ValueMemory(lambda values: _hashed(values, key).tolist())
        self.marks: list[Marks] = []
        self.counts: dict[int, int] | None = {}
        """None as soon as there are too many different values."""

    def add(self, piece: RowPiece, chosen: slice) -> None:
        if self.counts is not None:
            positions, values = piece.values(self.name, slice(None))
            if len(values) <= FEW:
                marks = self._marks(values)
                self._tally(marks, np.bincount(positions % len(marks), minlength=len(marks)))
                self.marks.append(marks[positions[chosen]])
                return
            self.counts = None
        positions, values = piece.values(self.name, chosen)
        self.marks.append(self._marks(values)[positions])

    def _marks(self, values: Sequence[object]) -> Marks:
        """The marks of values, and, last, that of null, whose position is -1."""
        return np.array([*self._memory.of(values), NULL], dtype=np.uint32)

    def _tally(self, marks: Marks, often: NDArray[np.intp]) -> None:
        assert self.counts is not None
        for mark, count in zip(marks[often > 0].tolist(), often[often > 0].tolist(), strict=True):
            self.counts[mark] = self.counts.get(mark, 0) + count
        if len(self.counts) > FEW:
            self.counts = None


def same_rows(known: RowSketch, new: RowSketch) -> bool:
    """Whether much of the smaller table is in the larger, by the columns that both have and spell alike.

    A column without a value in common was written otherwise (days, yes and no in another language) or says what sets
    the tables apart, the year for instance; either way it cannot tell that people are others.
    """
    shared = [name for name in known.marks if name in new.marks and _spelt_alike(known, new, name)]
    return bool(shared) and (
        _found_in(known, new, shared) or _found_in(new, known, shared) or _counts_agree(known, new, shared)
    )


def _spelt_alike(known: RowSketch, new: RowSketch, name: str) -> bool:
    if name in known.counts and name in new.counts:
        return not (known.counts[name].keys() - {NULL}).isdisjoint(new.counts[name])
    one, other = (found[found != NULL] for found in (np.unique(sketch.marks[name]) for sketch in (known, new)))
    # A part of a table may have a single one of its many values: a town, a ward.
    few = LEAST_SHARED * min(len(one), len(other))
    return len(np.intersect1d(one, other, assume_unique=True)) > min(BY_CHANCE, few)


def _found_in(one: RowSketch, other: RowSketch, shared: Sequence[str]) -> bool:
    """Whether rows that stand alone in one table are among those that stand alone in the other."""
    sample, table = _joined(one, shared), _joined(other, shared)
    if len(sample) == 0 or len(table) == 0:
        return False
    once, twice = _alone(table), len(_alone(table, times=2))
    alone, by_chance = len(once) / len(table), (2 * twice + 1) / (len(table) + 1)
    hits = len(np.intersect1d(_alone(sample), once, assume_unique=True))
    if alone <= by_chance or _at_least(hits, len(sample), by_chance) > CHANCE:
        return False
    share = (hits / len(sample) - by_chance) / (alone - by_chance)
    # Both were thinned evenly: what is found of a part in a part stands for the whole.
    same = share * one.rows * other.rows / len(table)
    return same >= LEAST_SHARED * min(one.rows, other.rows)


def _at_least(hits: int, draws: int, chance: float) -> float:
    """The probability of so many hits or more."""
    return float(bdtrc(hits - 1, draws, chance)) if hits > 0 else 1.0


def _alone(rows: NDArray[np.uint64], times: int = 1) -> NDArray[np.uint64]:
    found, often = np.unique(rows, return_counts=True)
    return found[often == times]


def _counts_agree(known: RowSketch, new: RowSketch, shared: Sequence[str]) -> bool:
    apart, expected, surprise = 0.0, 0.0, 0.0
    for name in shared:
        if name not in known.counts or name not in new.counts:
            continue
        pairs = [
            (known.counts[name].get(value, 0), new.counts[name].get(value, 0))
            for value in known.counts[name].keys() | new.counts[name].keys()
        ]
        apart += sum(abs(one - other) for one, other in pairs)
        # Two Poisson counts of the same mean m differ by sqrt(4 m / pi) on average and agree once in sqrt(4 pi m).
        expected += sum(math.sqrt(2 * (one + other) / math.pi) for one, other in pairs)
        rare = sorted(math.log1p(2 * math.pi * (one + other)) / 2 for one, other in pairs)
        surprise += sum(rare[:-1])  # the last count follows from the others and the number of rows
    return surprise >= -math.log(CHANCE) and apart <= CLOSE * expected


def _joined(sketch: RowSketch, names: Sequence[str]) -> NDArray[np.uint64]:
    """One number for the cells of a row in these columns."""
    joined = np.zeros(len(sketch.marks[names[0]]), dtype=np.uint64)
    for name in names:
        joined = (joined ^ sketch.marks[name].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        joined ^= joined >> np.uint64(29)
    return joined


def _spread(count: int, most: int) -> NDArray[np.intp]:
    """Places of at most so many rows, evenly."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.intp)


def _hashed(values: Sequence[object], key: str) -> Marks:
    """Short keyed hashes of what the values mean; never that of null."""
    meant = np.array([_meaning(value) for value in values], dtype=object)
    if not len(meant):
        return np.zeros(0, dtype=np.uint32)
    hashed = pd.util.hash_array(meant, hash_key=key, categorize=False).astype(np.uint64)
    return np.where(meant == "", NULL, hashed % np.uint64(2**32 - 1) + np.uint64(1)).astype(np.uint32)


def _often(values: Mapping[object, int], key: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for mark, count in zip(_hashed(list(values), key).tolist(), values.values(), strict=True):
        if count:
            found[mark] = found.get(mark, 0) + count
    return found


def _meaning(value: object) -> str:
    """One spelling for whatever a format may make of a value: 1.50 and 1.5, True and true, a day and its midnight."""
    if isinstance(value, float):
        return _digits(value)
    text = text_of(value)
    found = number_in(text)
    if found is not None:
        return _digits(found)
    spelled = moment(text).casefold()
    return {"true": "1", "false": "0"}.get(spelled, spelled).encode("utf-8", "replace").decode()


def _digits(found: float) -> str:
    return "" if math.isnan(found) else f"{found + 0.0:.6g}"  # -0 is 0


def _plain(name: str) -> str:
    return name.strip().casefold()
