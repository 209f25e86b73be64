"""Opened sources: text and Parquet files, databases, workbooks, files of other programs, servers, DataFrames.

Each is read in a file of `formats`; what a file is, its bytes say. DataFrames are read where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from core.base.errors import BadFile
from core.table import files
from core.table.formats import sqlite_file, survey_file
from core.table.formats.databases.database_source import DatabaseSource
from core.table.formats.duckdb_tables import ParquetRows, StoredRows, TextRows, tables_of
from core.table.formats.engine import attach, engine_for
from core.table.formats.renamed import Renamed, RenamedRows
from core.table.frame import Frame
from core.table.row_source import Rows
from core.table.sentences import without_cell_values

FileSource = str | Path | files.TextFile | files.ParquetFiles | tuple[str | Path, str]
TableSource = FileSource | DatabaseSource | pd.DataFrame | Renamed
"""A CSV, TSV, Parquet, Stata or SPSS file, or a text file with what is unusual about it; a folder of Parquet files or a
pattern that fits some; a DuckDB or SQLite database with the name of a table in it, or a workbook with that of a sheet;
a table of a database on a server; a DataFrame; or one of these with names for columns that have none."""


@contextmanager
def opened(source: TableSource) -> Iterator[Rows]:
    if isinstance(source, Renamed):
        with opened(source.source) as rows:
            yield RenamedRows(rows, source.names)
        return
    if isinstance(source, pd.DataFrame):
        yield Frame(source)
        return
    if isinstance(source, DatabaseSource):
        with _databases().opened(source) as rows:
            yield rows
        return
    with _opened_file(source) as rows:
        yield rows


@contextmanager
def _opened_file(source: FileSource) -> Iterator[Rows]:
    several = files.ParquetFiles.of(source) if isinstance(source, str | Path) else source
    if isinstance(several, files.ParquetFiles):
        with _parquet(several.paths) as rows:
            yield rows
        return
    assert not isinstance(source, files.ParquetFiles)
    written = source if isinstance(source, files.TextFile) else None
    place, name = source if isinstance(source, tuple) else (source, None)
    path = files.find(place.path if isinstance(place, files.TextFile) else place)
    kind = files.kind_of(path)
    if written is not None and kind != "text":
        raise BadFile("The file is no text, so it has neither an encoding nor a decimal sign; leave them out.")
    if (name is None) == (kind in _HOLDERS):
        raise BadFile(
            f"The file is {_HOLDERS[kind]}; name one of its {'sheets' if kind == 'workbook' else 'tables'}."
            if name is None
            else "The file is neither a database nor a workbook, so no table can be chosen in it; leave its name out."
        )
    if kind == "workbook" or kind == "sqlite":
        with (_workbook() if kind == "workbook" else sqlite_file).opened(path, name or "") as rows:
            yield rows
        return
    if kind == "stata" or kind == "spss":
        yield survey_file.SurveyFile(path, kind)
        return
    if kind == "parquet":
        with _parquet([path]) as rows:
            yield rows
        return
    with engine_for([path]) as engine:
        if kind == "duckdb":
            attach(engine, path)
            yield StoredRows(engine, name or "")
        else:
            yield TextRows(engine, path, files.TextFile(path) if written is None else written)


@contextmanager
def _parquet(paths: Sequence[Path]) -> Iterator[Rows]:
    found = [files.find(path) for path in paths]
    for path in found:
        if files.kind_of(path) != "parquet":
            raise BadFile(
                "Not every one of these files is a Parquet file; several files make one table in Parquet only."
            )
        files.check_width(path)
    with engine_for(found) as engine:
        yield ParquetRows(engine, found)


@without_cell_values
def stored_tables(path: str | Path) -> tuple[str, ...] | None:
    """Names of the tables of a database, or of the sheets of a workbook; None where the file is neither."""
    found = files.find(path)
    kind = files.kind_of(found)
    if kind == "workbook":
        return _workbook().sheets(found)
    if kind == "sqlite":
        return sqlite_file.tables(found)
    if kind != "duckdb":
        return None
    with engine_for([found]) as engine:
        attach(engine, found)
        return tables_of(engine)


def _workbook() -> Any:
    """Imported when the first workbook comes: its reader takes a fifth of a second."""
    from core.table.formats import workbook

    return workbook


def _databases() -> Any:
    """Imported when the first such table comes: few have any."""
    from core.table.formats.databases import database_rows

    return database_rows


_HOLDERS: dict[str, str] = {
    "duckdb": "a DuckDB database",
    "sqlite": "an SQLite database",
    "workbook": "an Excel workbook",
}
