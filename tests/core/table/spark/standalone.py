"""A Spark cluster of its own on loopback: a master, two workers, and executors as processes that can be lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.core.table.spark.clusters import PATIENCE, ROOT, free_port, wait_for

WORKERS = 2
EXECUTOR = b"CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Cluster:
    """Where its master listens, and the processes that it runs in."""

    address: str
    workers: tuple[int, ...]
    log: Path

    def executors(self) -> list[int]:
        """Processes of all executors that run now."""
        return [child for worker in self.workers for child in _children(worker) if EXECUTOR in _command(child)]

    def lose_one(self) -> int:
        """Kill an executor without a word, as a machine that fails would; says which."""
        end = time.monotonic() + PATIENCE
        while not (running := self.executors()):
            assert time.monotonic() < end, f"no executor runs:\n{self.log.read_text()[-2000:]}"
            time.sleep(0.05)
        os.kill(running[0], signal.SIGKILL)
        return running[0]


@contextmanager
def standalone(folder: Path) -> Iterator[Cluster]:
    """A cluster that runs as long as this is open."""
    folder.mkdir(parents=True, exist_ok=True)
    port, log = free_port(), folder / "cluster.log"
    address = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []
    with log.open("ab") as written:

        def start(kind: str, *told: str) -> subprocess.Popen[bytes]:
            import pyspark

            home = Path(pyspark.__file__).parent
            paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
            run = subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "-h", "127.0.0.1", *told],
                stdout=written,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={
                    **os.environ,
                    "SPARK_HOME": str(home),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "SPARK_DAEMON_MEMORY": "256m",
                    "PYSPARK_PYTHON": sys.executable,
                    "PYTHONPATH": paths,
                },
            )
            started.append(run)
            return run

        try:
            wait_for(port, start("master.Master", "--port", str(port), "--webui-port", "0"), log)
            for number in range(WORKERS):
                room = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker{number}"))
                start("worker.Worker", "--webui-port", "0", *room, address)
            _joined(log)
            yield Cluster(address, tuple(each.pid for each in started[1:]), log)
        finally:
            for each in reversed(started):
                each.terminate()
            for each in started:
                each.wait(60)


def _joined(log: Path) -> None:
    """Wait for all workers."""
    end = time.monotonic() + PATIENCE
    while len(re.findall("Successfully registered with master", log.read_text())) < WORKERS:
        assert time.monotonic() < end, f"the workers did not start:\n{log.read_text()[-2000:]}"
        time.sleep(0.1)


def _children(process: int) -> list[int]:
    try:
        told = " ".join(each.read_text() for each in Path(f"/proc/{process}/task").glob("*/children"))
    except OSError:
        return []
    return sorted({int(each) for each in told.split()})


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
