"""What is checked of every server in the same way."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.base.errors import DeskError
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.formats.databases.database_source import DatabaseSource
from core.table.table import Table
from tests.databases import NOBODY_KNOWS


class SameKeys:
    """The same choice of rows each time."""

    def keys(self, count: int) -> Any:
        return np.arange(1, count + 1, dtype=np.uint64)


def same_as_file(source: DatabaseSource, path: Path, domain: Domain, unit: Unit) -> Table:
    """The table from its server, once its codes, misfits and sketch are seen to be those of a file with its rows."""
    here = Table.load(source, domain, unit, SameKeys(), key="k" * 16)
    file = Table.load(path, domain, unit, SameKeys(), key="k" * 16)
    for name in domain.names:
        assert here.codes[name].tolist() == file.codes[name].tolist(), name
    assert (here.misfits, here.dropped_rows) == (file.misfits, file.dropped_rows)
    assert here.sketch is not None and file.sketch is not None
    assert {name: marks.tolist() for name, marks in here.sketch.marks.items()} == {
        name: marks.tolist() for name, marks in file.sketch.marks.items()
    }
    return here


def problem_of(source: DatabaseSource, domain: Domain) -> str:
    """The sentence, once it is seen to hold neither address nor password, whatever is behind it."""
    with pytest.raises(DeskError) as caught:
        Table.load(source, domain, Unit.row(), Noise())
    told = "".join(traceback.format_exception(caught.value.with_traceback(None)))
    assert not any(secret in told for secret in (NOBODY_KNOWS, source.address, "/tmp/pg-", "/tmp/my-"))
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    return str(caught.value)
