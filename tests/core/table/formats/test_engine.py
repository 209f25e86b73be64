"""The engine opens the files that it was given, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.table.formats.duckdb_tables import ParquetRows
from core.table.formats.engine import engine_for
from tests.core.table.formats.test_duckdb import DOMAIN, part


def test_other_files_stay_closed_while_these_are_read(tmp_path: Path) -> None:
    part(tmp_path / "in" / "a.parquet", 0)
    part(tmp_path / "out.parquet", 0)
    with engine_for([tmp_path / "in" / "a.parquet"]) as engine:
        rows = ParquetRows(engine, [tmp_path / "in" / "a.parquet"])
        rows.take(["age"])
        for statement in (
            f"SELECT * FROM read_parquet('{tmp_path}/out.parquet')",
            f"COPY (SELECT 1) TO '{tmp_path}/new.parquet'",
            "SET enable_external_access=true",
            f"SET allowed_paths=['{tmp_path}/out.parquet']",
        ):
            with pytest.raises(Exception, match=r"(?i)permission|disabled|locked|cannot"):
                engine.execute(statement)
        [piece] = rows.pieces([DOMAIN["age"]])
        assert piece.encode(DOMAIN["age"])[0].tolist() == list(range(50))
