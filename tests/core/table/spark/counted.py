"""`python -m tests.core.table.spark.counted ADDRESS FOLDER PATH`: what a desk of its own counts on a cluster.

A process holds one classic Spark, so another cluster needs another process.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np

from core.privacy.unit import Unit
from core.table.spark.spark_source import SparkSource
from core.table.spark.spark_table import SparkTable
from tests.core.table.spark.clusters import DOMAIN
from tests.core.table.spark.test_spark import Fixed

UNIT = Unit.id("person", 1)
"""Rows of an id are exchanged between executors, so that more is lost with one of them."""
PAIRS = list(combinations(DOMAIN.names, 2))


def main(address: str, folder: str, path: str) -> None:
    source = SparkSource(address=address, folder=f"{folder}/encoded", path=path)
    table = SparkTable.load(source, DOMAIN, UNIT, Fixed())
    (Path(folder) / "loaded").touch()
    table.prepare(PAIRS)
    counts = {f"{one},{other}": table.marginal((one, other)) for one, other in PAIRS}
    facts = np.array([table.rows, table.dropped_rows, *table.misfits.values()])
    np.savez(Path(folder) / "counted.npz", facts=facts, **counts)


if __name__ == "__main__":
    main(*sys.argv[1:])
