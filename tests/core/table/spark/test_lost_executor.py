"""A cluster loses executors while it encodes and while it counts: Spark tries again, and no count changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from core.table.table import Table
from tests.core.table.spark.clusters import DOMAIN, PATIENCE, ROOT, rows, write
from tests.core.table.spark.counted import PAIRS, UNIT
from tests.core.table.spark.standalone import Cluster, standalone
from tests.core.table.spark.test_spark import Fixed

pytestmark = pytest.mark.slow

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.executor.memory": "512m",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.files.maxPartitionBytes": "100k",
}
"""What a desk's own configuration of Spark would say; many small tasks, so that an executor is lost between some."""


def desk(cluster: Cluster, folder: Path, people: Path) -> subprocess.Popen[bytes]:
    """A process that loads and counts the table."""
    told = folder / "conf" / "spark-defaults.conf"
    told.parent.mkdir(parents=True)
    told.write_text("".join(f"{name} {value}\n" for name, value in SETTINGS.items()))
    with (folder / "desk.log").open("wb") as written:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.core.table.spark.counted", cluster.address, str(folder), str(people)],
            cwd=ROOT,
            env={
                **os.environ,
                "SPARK_CONF_DIR": str(told.parent),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
            },
            stdout=written,
            stderr=subprocess.STDOUT,
        )


def wait_until(there: Path, pattern: str, run: subprocess.Popen[bytes]) -> None:
    """Until such a file is there."""
    end = time.monotonic() + PATIENCE
    while not any(there.glob(pattern)):
        assert run.poll() is None, (there / "desk.log").read_text()[-3000:]
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)


def test_no_count_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    people = write(tmp_path / "people", rows(40_000))
    folder = tmp_path / "desk"
    folder.mkdir()
    with standalone(tmp_path / "cluster") as cluster:
        run = desk(cluster, folder, people)
        try:
            wait_until(folder, "encoded/*/_temporary/*/task_*/*", run)
            lost = {cluster.lose_one()}
            wait_until(folder, "loaded", run)
            lost.add(cluster.lose_one())
            assert run.wait(PATIENCE) == 0, (folder / "desk.log").read_text()[-3000:]
        finally:
            run.kill()
            run.wait()
        assert len(lost) == 2
    wanted = Table.load(people, DOMAIN, UNIT, Fixed())
    with np.load(folder / "counted.npz") as found:
        facts = [wanted.rows, wanted.dropped_rows, *wanted.misfits.values()]
        assert found["facts"].tolist() == facts
        for one, other in PAIRS:
            assert np.array_equal(found[f"{one},{other}"], wanted.marginal((one, other))), (one, other)
