"""What is said when something goes wrong on the cluster: one sentence that quotes no value.

An executor's error travels through Spark's logs and pages to the driver, so it is replaced where it happens; the driver
finds the sentence in whatever Spark wrapped around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

import pyarrow as pa

from core.base.errors import BadFile, DeskError
from core.table.sentences import without_cell_values

Given = ParamSpec("Given")
Made = TypeVar("Made")

_STOPPED = "Spark stopped before it was done; the cluster's own log says why."
_KINDS: tuple[tuple[str, str], ...] = (
    (r"ModuleNotFoundError|PYTHON_VERSION_MISMATCH", "The executors need Python with release-desk installed, of the "
     "same version as here; PYSPARK_PYTHON names it."),
    (r"DATA_SOURCE_NOT_FOUND.*delta|ClassNotFoundException.*delta", "This is a Delta table, and Delta is not installed "
     "on the cluster; install it there, or write the table as Parquet files."),
    (r"PATH_NOT_FOUND|FileNotFoundException|UNABLE_TO_INFER_SCHEMA", "There are no Parquet files at this place of the "
     "cluster; check the path."),
    (r"TABLE_OR_VIEW_NOT_FOUND|SCHEMA_NOT_FOUND", "The catalogue of the cluster has no table of this name."),
    (r"is not a Parquet file|CANNOT_READ_FILE", "A file at this place is no Parquet file, or is damaged."),
    (r"PARQUET_COLUMN_DATA_TYPE_MISMATCH|PARQUET_CONVERSION_FAILURE", "The files differ in the type of a column; write "
     "all of them with the same types."),
    (r"PARQUET_TYPE_ILLEGAL|PARQUET_TYPE_NOT_SUPPORTED|Illegal Parquet type", "A column has a type that Spark does not "
     "read; write times in microseconds."),
    (r"AccessControlException|Permission denied|Mkdirs failed", "The cluster does not let us read this path or write "
     "the folder for encoded columns."),
    (r"UNAVAILABLE|Connection refused|failed to connect|All masters are unresponsive", "Spark cannot be reached at its "
     "address; start it or correct the address."),
    (r"OutOfMemoryError|maxResultSize", "The table does not fit into the memory of the cluster's executors or driver."),
    (r"No space left on device|QuotaExceeded", "The disks of the cluster are full; free some space and try again."),
    # What is wrong inside of a file that was begun: pages that cannot be unpacked, and those that can but name
    # values that their dictionary has not; of an error that came often Java tells nothing but its name.
    (r"FAILED_READ_FILE|org\.apache\.parquet\.(?:column|bytes|format|io)\.|IndexOutOfBoundsException", "A Parquet file "
     "at this place is damaged; write it again or restore it from a backup."),
)  # fmt: skip


class OnExecutor(RuntimeError):
    """The one error that leaves an executor."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"release-desk<{sentence}>release-desk")


def told_plainly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The work of a task; whatever goes wrong in it is said in one sentence."""
    advance = without_cell_values(lambda: next(batches, None))
    sentence = ""
    while not sentence:
        try:
            batch = advance()
        except DeskError as problem:
            sentence = str(problem)
            continue
        if batch is None:
            return
        yield batch
    raise OnExecutor(sentence)


def from_cluster(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """Replace whatever Spark raises by one sentence, with nothing behind it."""

    @wraps(function)
    def guarded(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        try:
            return function(*args, **kwargs)
        except DeskError:
            raise
        except Exception as error:
            sentence = sentence_of(str(error))
        raise BadFile(sentence)

    return guarded


def sentence_of(text: str) -> str:
    """The executor's own sentence, or a fixed one for what Spark says."""
    said = re.search(r"release-desk<(.*?)>release-desk", text, re.DOTALL)
    if said:
        return said[1]
    return next((sentence for signs, sentence in _KINDS if re.search(signs, text)), _STOPPED)
