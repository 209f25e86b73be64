"""A Spark Connect server on loopback, and tables for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals

ROOT = Path(__file__).parents[4]
PATIENCE = 180
"""Seconds until the server has to answer."""
DOMAIN = Domain(
    (
        Categories(name="town", values=("Aa", "Bb", "Cc"), other="elsewhere", missing=True),
        Categories(name="grade", values=(0, 1, 2, 3), missing=True),
        Integers(name="age", low=0, high=99, bins=10),
        Integers(name="said", low=0, high=50, bins=5, missing=True),
        Reals(name="weight", low=0, high=150, bins=16, missing=True),
        Reals(name="height", low=0, high=2, bins=8),
        Reals(name="price", low=0, high=100, bins=10, missing=True),
        Dates(name="born", low="1950-01-01", high="2000-12-31", bins=10, missing=True),
        Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=12),
        Dates(name="sent", low="2020-01-01", high="2020-12-31", bins=12, missing=True),
        Booleans(name="ill", missing=True),
        Categories(name="two words `x`.y", values=("yes", "no"), other="other"),
    )
)
FILES = ("a.parquet", "b c.parquet", "more/d.parquet")


@contextmanager
def connect_server(folder: Path) -> Iterator[tuple[str, Path]]:
    """The address of a server that runs as long as this is open, and its log."""
    import pyspark

    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
    }
    told = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command = [str(submit), "--master", "local[2]", *told, "--class", kind, "spark-internal"]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    log = folder / "server.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            command,
            stdout=written,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": paths},
        )
        try:
            wait_for(port, server, log)
            yield f"sc://127.0.0.1:{port}", log
        finally:
            server.terminate()
            server.wait(60)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-2000:]}")


def rows(count: int = 3000) -> pa.Table:
    """Every kind of column, with missing and odd values; ids as numbers and as texts, some of them missing."""
    draw = np.random.default_rng(3)

    def some(values: list, missing: float = 0.1) -> list:
        picked = [values[place] for place in draw.integers(0, len(values), count)]
        return [None if gone else value for gone, value in zip(draw.random(count) < missing, picked, strict=True)]

    day = pd.Timestamp("2019-11-01")
    moments = [(day + pd.Timedelta(hours=int(hours))).to_pydatetime() for hours in draw.integers(0, 12_000, count)]
    person = draw.integers(0, count // 5, count)
    return pa.table(
        {
            "number": pa.array(np.where(draw.random(count) < 0.05, -1, person), mask=draw.random(count) < 0.05),
            "person": pa.array(
                [None if n % 31 == 0 else "" if n % 29 == 0 else f"person-{n}" for n in person.tolist()]
            ),
            "half": pa.array(person / 2),
            "town": pa.array(some(["Aa", "Bb", " Cc ", "Dd", "", "Ünïcødé"])),
            "grade": pa.array(some([0, 1, 2, 3, 9]), pa.int8()),
            "age": pa.array(some([-5, 0, 17, 99, 100, 2**40])),
            "said": pa.array(some(["7", " 12 ", "1e1", "many", "", "-3", "50.5"])),
            "weight": pa.array(some([70.25, -1.0, 149.99, 150.0, float("nan"), float("inf")])),
            "height": pa.array(some([1.75, 0.1, 2.5]), pa.float32()),
            "price": pa.array(some([Decimal("9.99"), Decimal("100.01"), Decimal("50.00")]), pa.decimal128(12, 2)),
            "born": pa.array(some([date(1949, 12, 31), date(1975, 6, 1), date(2000, 12, 31), date(2010, 1, 1)])),
            "seen": pa.array(moments, pa.timestamp("us")),
            "sent": pa.array(moments, pa.timestamp("us", tz="UTC")),
            "ill": pa.array(some([True, False])),
            "two words `x`.y": pa.array(some(["yes", "no", "perhaps"])),
            "unused": pa.array(draw.random(count)),
        }
    )


def write(folder: Path, table: pa.Table) -> Path:
    """The rows in several files, one of them in a folder of its own."""
    ends = [0, table.num_rows // 2, table.num_rows * 4 // 5, table.num_rows]
    for name, start, end in zip(FILES, ends[:-1], ends[1:], strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table.slice(start, end - start), folder / name, row_group_size=400)
    return folder
