"""A table on Spark (`local[2]`): load and encode, all 2-way tables in one pass, what comes over the wire.

Ten million rows of 15 columns in Parquet, or as many as RELEASE_DESK_BENCH_ROWS says; 105 pairs. Beside it the embedded
engine, which reads the same file with DuckDB, and DuckDB's own GROUP BYs of the same pairs; on at most one million rows
Spark's own, and the wire and the memory once more, which do not follow the rows.
Each side runs in a process of its own; CPU seconds are those of all its processes, the Java machine and its Python
workers included, without what it takes to start Java. Memory is that of the desk's own process.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from core.base.arrays import IntArray
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.spark import added_vectors
from core.table.spark.spark_session import session
from core.table.spark.spark_source import SparkSource
from core.table.spark.spark_table import SparkTable
from core.table.table import Table
from tests.bench.ingest import duckdb_groups
from tests.bench.kit.line import Line, cpu_of_all, peak_mb
from tests.bench.kit.wide_file import PERSON, REALS, TEXTS, WHOLES, domain, write_rows

ROWS = int(os.environ.get("RELEASE_DESK_BENCH_ROWS", "10000000"))
MOST_GROUPED = 1_000_000
"""Rows that Spark's own GROUP BYs count: ten times as many take minutes."""
ADDRESS = "local[2]"
LIMIT = 3
KEY = "0123456789abcdef"
"""With it a table is made recognisable, as at a desk."""
PAIRS = list(itertools.combinations(domain().names, 2))


def _on_spark(path: str, unit: Unit) -> dict[str, float]:
    wire: list[int] = []
    joined = added_vectors.joined

    def received(slices: Iterable[tuple[int, bytes]]) -> IntArray | None:
        came = list(slices)
        wire.append(sum(len(content) for _, content in came))
        return joined(came)

    added_vectors.joined = received
    with tempfile.TemporaryDirectory() as folder:
        session(ADDRESS).range(1).count()
        source = SparkSource(address=ADDRESS, folder=folder, path=path)
        start, wall = cpu_of_all(), time.perf_counter()
        table = SparkTable.load(source, domain(), unit, Noise(), key=KEY)
        loaded, wire[:] = cpu_of_all(), []
        table.prepare(PAIRS)
        done = cpu_of_all()
    found = {"load": loaded - start, "pairs": done - loaded, "wire_mb": sum(wire) / 1e6}
    return {**found, "wall": time.perf_counter() - wall, "rss_mb": peak_mb()}


def _embedded(path: str, unit: Unit) -> dict[str, float]:
    start = cpu_of_all()
    table = Table.load(path, domain(), unit, Noise())
    loaded = cpu_of_all()
    for pair in PAIRS:
        table.marginal(pair)
    return {"load": loaded - start, "pairs": cpu_of_all() - loaded, "rss_mb": peak_mb()}


def _grouped(path: str) -> dict[str, float]:
    """Spark's own: a GROUP BY for every pair, over the Parquet file that it keeps in memory."""
    frame = session(ADDRESS).read.parquet(path).limit(MOST_GROUPED)
    binned = [f"least(floor({name} * {bins / 1000}), {bins - 1}) AS {name}" for name, bins in REALS.items()]
    frame = frame.selectExpr(*TEXTS, *WHOLES, *binned).cache()
    frame.count()
    start = cpu_of_all()
    for pair in PAIRS:
        frame.groupBy(*pair).count().collect()
    return {"pairs": cpu_of_all() - start}


_SIDES: dict[str, Callable[[str], dict[str, float]]] = {
    "spark": lambda path: _on_spark(path, Unit.row()),
    "spark-ids": lambda path: _on_spark(path, Unit.id(PERSON, LIMIT)),
    "embedded": lambda path: _embedded(path, Unit.row()),
    "embedded-ids": lambda path: _embedded(path, Unit.id(PERSON, LIMIT)),
    "spark-groupby": _grouped,
    "duckdb-groupby": lambda path: {"pairs": duckdb_groups(path, reading=False)["cpu_s"]},
}


def _apart(side: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.spark", side, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = write_rows(Path(folder), "parquet", ROWS)
        for ids in ("", "-ids"):
            ours, theirs = _apart(f"spark{ids}", path), _apart(f"embedded{ids}", path)
            case = f"{ROWS:,} x {len(domain())}" + (f", {LIMIT} rows of an id" if ids else "")
            yield Line("spark", f"{case}: load and encode", "cpu_s", ours["load"], "embedded", theirs["load"])
            yield Line("spark", f"{case}: all pairs", "cpu_s", ours["pairs"], "embedded", theirs["pairs"])
            yield Line("spark", f"{case}: all pairs", "wire_mb", ours["wire_mb"])
            yield Line("spark", f"{case}: at the desk", "rss_mb", ours["rss_mb"], "embedded", theirs["rss_mb"])
            if not ids:
                theirs = _apart("duckdb-groupby", path)
                yield Line("spark", f"{case}: all pairs", "cpu_s", ours["pairs"], "duckdb-groupby", theirs["pairs"])
        few = path if ROWS <= MOST_GROUPED else write_rows(Path(folder), "parquet", MOST_GROUPED)
        ours, theirs = _apart("spark", few), _apart("spark-groupby", few)
        case = f"{min(ROWS, MOST_GROUPED):,} x {len(domain())}"
        yield Line("spark", f"{case}: all pairs", "cpu_s", ours["pairs"], "spark-groupby", theirs["pairs"])
        yield Line("spark", f"{case}: all pairs", "wire_mb", ours["wire_mb"])
        yield Line("spark", f"{case}: at the desk", "rss_mb", ours["rss_mb"])


if __name__ == "__main__":
    print(json.dumps(_SIDES[sys.argv[1]](sys.argv[2])))
