"""The table of people in every format, and as it is loaded."""

from __future__ import annotations

import pytest

from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.table import Table
from tests.core.table.people import people, schema, written


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return written(people(), tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="module")
def table(sources: dict[str, object]) -> Table:
    return Table.load(sources["csv"], schema(), Unit.row(), Noise())  # type: ignore[arg-type]
