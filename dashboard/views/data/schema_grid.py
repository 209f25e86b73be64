"""The schema as an editable grid, one line per column, and back to a Domain.

Lists of categories are written in one cell: `north | south | 3 | "3"`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.base.errors import BadSchema, DeskError, printable
from core.schema.bins import propose, propose_decimals
from core.schema.codebook_line import SETTINGS
from core.schema.domain import KINDS, MAX_CELLS, Domain
from core.schema.guesses import BY_NAME, BY_TYPE, draft, like_id, nameless
from core.schema.value_list import read_values, write_values

TYPES = {
    "include": "bool", "name": "str", "kind": "str", "low": "str", "high": "str", "bins": "Int64", "values": "str",
    "other": "str", "missing": "bool", "decimals": "Int64", "storage": "str", "note": "str",
}  # fmt: skip

STORAGES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "date", "timestamp"
)  # fmt: skip


def from_columns(columns: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """A first grid from names and storage types; what is named like an id, or by a number only, starts unticked."""
    return _frame({"include": useful(str(guess["name"])), **guess} for guess in draft(columns))


def useful(name: str) -> bool:
    """Whether a column starts ticked."""
    return not (like_id(name) or nameless(name))


def from_domain(domain: Domain, columns: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """A saved schema on the columns of a file; columns that it leaves out start unticked."""
    present = {name for name, _ in columns}
    for name in domain.names:
        if name not in present:
            raise BadSchema(
                f"The schema has the column '{printable(name)}' and the file does not; choose a matching pair."
            )
    left_out = [line for line in draft(columns) if line["name"] not in domain]
    saved = [{"include": True, **line} for line in domain.to_list()]
    return _frame([*saved, *({"include": False, **line, "note": ""} for line in left_out)])


def with_lines(frame: pd.DataFrame, lines: Iterable[Mapping[str, Any]], note: str) -> pd.DataFrame:
    """The grid with some columns described anew; ticks stay, and a line without a kind changes the note only: where
    that says that the rest is a guess, it stays, because the rest still is one."""
    told = {line["name"]: line for line in lines}
    merged = []
    for line in frame.itertuples(index=False):
        old = dict(zip(TYPES, line, strict=True))
        new = told.get(old["name"], {})
        if "kind" in new:
            merged.append(_cells({"note": note, **new, "include": old["include"]}))
        else:
            merged.append({**old, "note": old["note"] if old["note"] in GUESSES else new.get("note", old["note"])})
    return pd.DataFrame(merged, columns=list(TYPES)).astype(TYPES)


def to_domain(frame: pd.DataFrame) -> Domain:
    """The ticked lines as a schema; an error names the column."""
    return _domain(_lines(frame))


def mistakes(frame: pd.DataFrame) -> list[str]:
    """Every mistake of the grid in a sentence of its own, in the order of its lines; none where it is a schema."""
    lines = [[line] for line in _lines(frame)]
    found = [problem for line in lines if (problem := _problem(line))]
    # What is wrong with no line alone is wrong with all of them together, as no line at all is.
    whole = None if found else _problem([line[0] for line in lines])
    return found if whole is None else [whole]


def _problem(lines: Sequence[Mapping[str, Any]]) -> str | None:
    try:
        _domain(lines)
    except DeskError as problem:
        return str(problem)
    return None


def with_settings(frame: pd.DataFrame, names: Collection[str], settings: Mapping[str, Any]) -> pd.DataFrame:
    """The grid with the same settings for several columns; what is not given stays."""
    changed = frame.copy()
    chosen = changed["name"].isin(list(names))
    for setting, value in settings.items():
        changed.loc[chosen, setting] = value
    return _own(changed, frame).astype(TYPES)


def _own(changed: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """The grid where what the curator says in place of a guess is none any more; its note would be published."""
    written, guessed = (frame[DECLARED].astype(object).fillna("").astype(str) for frame in (changed, before))
    replaced = (written != guessed).any(axis=1) & changed["note"].isin(GUESSES)
    return changed.assign(note=changed["note"].mask(replaced, ""))


def with_bins(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str], list[str]]:
    """The grid with bins where a ticked range has none and deserves some, and the names of those columns; likewise
    with decimals where real numbers have none, and theirs."""
    changed = frame.copy()
    filled, rounded = [], []
    for place, line in zip(changed.index, _each(frame), strict=True):
        bins = propose(line["kind"], line["low"], line["high"]) if line["include"] and pd.isna(line["bins"]) else None
        if bins is not None:
            changed.loc[place, "bins"] = bins
            filled.append(str(line["name"]))
        if _endless({**line, "bins": changed.loc[place, "bins"]}):
            changed.loc[place, "decimals"] = propose_decimals(line["low"], line["high"], changed.loc[place, "bins"])
            rounded.append(str(line["name"]))
    return changed.astype(TYPES), filled, rounded


def endless(frame: pd.DataFrame) -> list[str]:
    """Ticked columns of real numbers that would be released with all digits of a float."""
    return [str(line["name"]) for line in _lines(frame) if _endless(line)]


def _endless(line: Mapping[str, Any]) -> bool:
    """Whether decimals are missed, and known how many."""
    if not line["include"] or line["kind"] != "reals" or not pd.isna(line["decimals"]):
        return False
    return propose_decimals(line["low"], line["high"], line["bins"]) is not None


def _each(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(zip(TYPES, line, strict=True)) for line in frame.itertuples(index=False)]


def _lines(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The ticked ones."""
    return [line for line in _each(frame) if line["include"]]


def _domain(lines: Sequence[Mapping[str, Any]]) -> Domain:
    if not lines:
        raise BadSchema("No column is ticked; tick at least one to be in the schema.")
    return Domain.from_list([_settings(line) for line in lines])


SCROLL_BAR = 14
"""Pixels."""
DECLARED = ["kind", "low", "high", "values"]
"""What a guess is about."""
GUESSES = (BY_NAME, BY_TYPE)
WRONG, GUESSED = "✗ mistake", "? a guess"
"""How lines are marked in the grid."""


def marks(frame: pd.DataFrame) -> list[str]:
    """For every line whether it has a mistake, or says what only its name or type suggests."""
    return [_mark(line) for line in _each(frame)]


def _mark(line: Mapping[str, Any]) -> str:
    if not line["include"]:
        return ""
    if _problem([line]):
        return WRONG
    return GUESSED if line["note"] in GUESSES else ""


def _edited(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """The grid with what was typed into it since, which its editor will say only once it is drawn."""
    typed = st.session_state.get(key, {}).get("edited_rows", {})
    changed = frame.astype(object)
    for place, cells in typed.items():
        for name, value in cells.items():
            if name in TYPES:
                changed.loc[changed.index[int(place)], name] = value
    return changed


def editor(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """The grid; its output must never be fed back as `frame` under the same key."""
    typed = _own(_edited(frame, key), frame)
    # An editor with a key keeps what was typed when other cells change.
    shown = frame.assign(note=typed["note"].astype("str"))
    shown.insert(1, "mark", pd.Series(marks(typed), index=frame.index, dtype="str"))
    edited = st.data_editor(
        shown,
        key=key,
        hide_index=True,
        num_rows="fixed",
        placeholder="",
        # The bar that scrolls sideways lies over the last line otherwise.
        height=min(38 + 35 * len(frame) + SCROLL_BAR, 560),
        alt="The schema: one line per column of the file, with its kind, bounds, bins or categories.",
        column_config={
            "include": _tick("Use", 70, "Untick to leave the column out of every release."),
            "mark": st.column_config.TextColumn(
                "Check", disabled=True, width=90, help="Lines with a mistake, and what was guessed from a name or type."
            ),
            "name": st.column_config.TextColumn("Column", disabled=True, pinned=True, width=125),
            "kind": st.column_config.SelectboxColumn("Kind", options=list(KINDS), required=True, width=105),
            "low": _text("Low", 95, "Smallest value, included; anything below counts as this."),
            "high": _text("High", 95, "Largest value, included; anything above counts as this."),
            "bins": _whole("Bins", 75, 1, MAX_CELLS, "How many steps the range has; empty keeps each whole number."),
            "values": _text("Categories", 230, "Separated by a bar: north | south | west"),
            "other": _text("'Other' cell", 110, "Name of the cell for unlisted categories; empty for none."),
            "missing": _tick("Missing?", 95, "Tick if cells may be empty."),
            "decimals": _whole("Decimals", 95, 0, 15, "Decimals of released real numbers; empty for all."),
            "storage": st.column_config.SelectboxColumn(
                "Stored as", options=["", *STORAGES], width=105, help="Type in released Parquet files; empty for usual."
            ),
            "note": _text("Where does this come from?", 400, "A form, a law, a code book: never the data."),
        },
    )
    return edited[list(TYPES)]


def _tick(label: str, width: int, help: str) -> Any:
    return st.column_config.CheckboxColumn(label, width=width, help=help)


def _text(label: str, width: int, help: str) -> Any:
    return st.column_config.TextColumn(label, width=width, help=help)


def _whole(label: str, width: int, least: int, most: int, help: str) -> Any:
    return st.column_config.NumberColumn(label, width=width, min_value=least, max_value=most, step=1, help=help)


def _frame(lines: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([_cells(line) for line in lines], columns=list(TYPES)).astype(TYPES)


def _cells(line: Mapping[str, Any]) -> dict[str, Any]:
    cells: dict[str, Any] = {"missing": False, "other": "", "note": "", "low": "", "high": "", "storage": "", **line}
    cells["values"] = write_values(line.get("values", ()))
    cells["low"], cells["high"] = _written(cells["low"]), _written(cells["high"])
    if "bits" in line:
        cells["bins"] = 2 ** line["bits"]
    return {name: cells.get(name) for name in TYPES}


def _written(bound: object) -> str:
    return repr(bound).removesuffix(".0") if isinstance(bound, float) else str(bound)


def _settings(line: Mapping[str, Any]) -> dict[str, Any]:
    """One line as a schema's column; what its kind has no use for is left out."""
    kind = line["kind"]
    settings: dict[str, Any] = {"name": line["name"], "kind": kind, "missing": bool(line["missing"])}
    for setting in SETTINGS.get(kind, ()):
        value = line[setting]
        if setting == "values":
            settings["values"] = read_values("" if pd.isna(value) else str(value))
        elif not (pd.isna(value) or str(value).strip() == ""):
            settings[setting] = _number(str(value).strip()) if setting in ("low", "high") and kind != "dates" else value
    if "other" in settings:
        settings["other"] = str(settings["other"])
    for setting in {"bins", "decimals"} & set(settings):
        settings[setting] = int(settings[setting])
    if not pd.isna(line["note"]) and line["note"]:
        settings["note"] = str(line["note"])
    return settings


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
