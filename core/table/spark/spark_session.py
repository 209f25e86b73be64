"""Sessions with a cluster, and what this installation allows."""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import socket
import sys
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from core.base.errors import Refused

PATIENCE = 10
"""Seconds in which a cluster has to answer."""
BATCH = 1 << 16
"""Rows that an executor hands over to Python at a time."""
_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
}
_OWN = {
    "spark.app.name": "Release Desk",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
}
"""Of a Spark that runs in this process: it listens on loopback only, and shows nothing to anybody."""
_OTHERS = 0o077
_OWNERS = {"spark.hadoop.fs.permissions.umask-mode": f"{_OTHERS:03o}"}
"""What this program writes on a cluster is for its owner alone to read."""
_STARTING = Lock()


def lacking(address: str) -> str | None:
    """What this installation lacks to reach such an address, in one sentence; None where nothing is missing."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed here; install release-desk with the extra [spark]."
    if address.startswith("sc://"):
        if importlib.util.find_spec("grpc") is None:
            return "Spark Connect needs grpcio, which is not installed here; install pyspark[connect]."
        return None
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        return "Java is not installed here, which Spark needs unless it is reached by Spark Connect (sc://...)."
    return None


def session(address: str) -> Any:
    """A session of our own with this cluster, opened once."""
    problem = lacking(address)
    if problem is not None:
        raise Refused(problem)
    _check_reachable(address)
    open_one = _remote if address.startswith("sc://") else _classic
    opened = open_one(address)
    if opened.is_stopped if open_one is _remote else opened.sparkContext._jsc is None:
        forget()
        return open_one(address)
    return opened


def forget() -> None:
    """Open sessions anew when they are next asked for."""
    _remote.cache_clear()
    _classic.cache_clear()


def _check_reachable(address: str) -> None:
    """Spark itself tries for minutes before it says that nobody answers."""
    found = re.match(r"(?:sc|spark)://(?:\[([^\]]+)\]|([^:/;,]+))(?::(\d+))?", address)
    if found is None:
        return
    usual = 15002 if address.startswith("sc://") else 7077
    try:
        socket.create_connection((found[1] or found[2], int(found[3] or usual)), timeout=PATIENCE).close()
    except (OSError, OverflowError):
        forget()
        raise Refused("Spark cannot be reached at its address; start it or correct the address.") from None


@lru_cache(maxsize=8)
def _remote(address: str) -> Any:
    # by its own class: the usual builder refuses where a classic session runs in the same process
    from pyspark.sql.connect.session import SparkSession

    opened = _set(SparkSession.builder.remote(address).create())
    # at the end of the program nobody waits, for minutes, for a server that may be gone; it forgets sessions by itself
    opened.release_session_on_close = False
    atexit.unregister(opened.client._on_exit)
    return opened


@lru_cache(maxsize=1)
def _classic(address: str) -> Any:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _STARTING:
        running = SparkContext._active_spark_context
        if running is None:
            _start(address)
        elif running.master != address:
            raise Refused(
                "Another Spark is in use in this program; close it, or start the dashboard once more for this."
            )
        return _set(SparkSession.builder.getOrCreate().newSession())


def _start(address: str) -> None:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    settings = _OWNERS
    if address.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the only way to say with which Python tasks run
        settings = {**_OWN, **_OWNERS}
    told = SparkConf().setMaster(address).setAll(list(settings.items()))
    # No setting of Spark reaches a local disk: there files are their owner's because Java was started so.
    java = SparkContext._gateway or launch_gateway(told, {"umask": _OTHERS})
    SparkContext(conf=told, gateway=java)


def _set(opened: Any) -> Any:
    for name, value in _SETTINGS.items():
        opened.conf.set(name, value)
    return opened
