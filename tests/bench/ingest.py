"""From a file to all 2-way tables of counts: load, encode and count here, against the same GROUP BYs in DuckDB.

One and ten million rows, 8 columns of text and 7 of numbers, 105 pairs. The peer `duckdb-groupby` counts a table it
already holds in memory, so its time contains no reading at all; `duckdb-load-groupby` also reads the file. Each side
runs in a process of its own with as many threads as there are processors, and reports wall seconds, CPU seconds and its
largest memory. More processes take the same file into a desk, without ids and with at most three rows of each, and
release ten million rows by 'tree'. That case needs 8 GB of free memory and 1 GB of disk, and is left out where there is
less. Before them, surveys of 10 to 200 columns are released by 'tree' from rows that are encoded already, one of 35
columns by a desk with a process for its releases, as a server has it (CPU seconds of both, from the plan to the files),
and all pairs of 500 columns are refused. A hundred million rows are taken in where RELEASE_DESK_BENCH_HUGE is set: the
file alone takes minutes to make. The `limit` is our own.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from core import Budget, Desk, Domain, Marginals
from core.base.errors import BadParameter
from core.mechanisms.tree.tree import Tree
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Integers
from core.table.table import Table
from tests.bench.kit.line import Line, cpu_of_all, peak_mb
from tests.bench.kit.online_any import survey
from tests.bench.kit.wide_file import PERSON, PIECE, REALS, TEXTS, WHOLES, domain, write_rows
from tests.kernels import run as release_of

CASES = {"parquet": 1_000_000, "csv": 1_000_000, "large.parquet": 10_000_000}
HUGE = 100_000_000
ROOM = 8 * 2**30
METRICS = ("wall_s", "cpu_s", "rss_mb")
LIMITS = {(10_000_000, "rss_mb"): 1_200, (HUGE, "rss_mb"): 4_000, (HUGE, "cpu_s"): 250}
"""By rows and metric: what taking a Parquet file into a desk is to stay below, with ids and without."""
SERVED_COLUMNS, SERVED_ROWS, SERVED_CPU_S = 35, 170_000, 40
REFUSED_COLUMNS, REFUSED_CPU_S = 500, 1


def _ours(path: str) -> dict[str, float]:
    steps: dict[str, float] = {}

    def work() -> None:
        mark = time.process_time()
        table = Table.load(path, domain(), Unit.row(), Noise())
        steps["load"] = time.process_time() - mark
        for pair in itertools.combinations(table.domain.names, 2):
            table.marginal(pair)

    found = _measured(work)
    return found | {f"{name}_cpu_s": seconds for name, seconds in steps.items()}


def duckdb_groups(path: str, reading: bool) -> dict[str, float]:
    """DuckDB's own: a GROUP BY for every pair of columns, over a table that it holds in memory."""
    engine = duckdb.connect()

    def load() -> None:
        engine.execute(f"CREATE TABLE people AS SELECT * EXCLUDE ({PERSON}) FROM '{path}'")

    def count() -> None:
        keys = {name: name for name in (*TEXTS, *WHOLES)}
        keys |= {name: f"least(floor({name} * {bins / 1000}), {bins - 1})" for name, bins in REALS.items()}
        for one, two in itertools.combinations(keys, 2):
            engine.execute(f"SELECT {keys[one]} AS a, {keys[two]} AS b, count(*) FROM people GROUP BY ALL").fetchnumpy()

    if reading:
        return _measured(lambda: (load(), count()))
    load()
    return _measured(count)


def _measured(work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return dict(zip(METRICS, (time.perf_counter() - wall, time.process_time() - cpu, peak_mb()), strict=True))


def _added(path: str, unit: Unit) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder)
        found = _measured(lambda: desk.add_table(path, domain(), unit=unit, budget=Budget(epsilon=1, delta=1e-9)))
        desk.close()
    return found


def _release(path: str) -> dict[str, float]:
    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(folder)
            held = desk.add_table(path, domain(), unit=Unit.row(), budget=Budget(epsilon=1, delta=1e-9))
            plan = desk.plan(held, [Marginals(order=2)], mechanism="tree", budget=Budget(epsilon=1, delta=1e-9))
            desk.release(plan)
            desk.close()

    return _measured(work)


def _synthesised(columns: int, rows: int) -> dict[str, float]:
    """All pairs of a generated survey by 'tree', with the records, from rows that are encoded already."""
    made = survey(rows, columns)
    # as a desk holds them, each column in the smallest type that fits
    codes = {each.name: made.codes[:, place].astype(each.dtype) for place, each in enumerate(made.domain)}
    held = Table(
        domain=made.domain,
        unit=made.unit,
        codes=codes,
        misfits={},
        dropped_rows=0,
        layout=made.domain.names,
        fingerprint="",
    )
    del made
    mechanism = Tree(queries=(Marginals(order=2),), budget=Budget(epsilon=1, delta=1e-9))
    return _measured(lambda: release_of(mechanism, held).sample(rows, np.random.default_rng()))


_PEERS: dict[str, Callable[[str], dict[str, float]]] = {
    "duckdb-groupby": lambda path: duckdb_groups(path, reading=False),
    "duckdb-load-groupby": lambda path: duckdb_groups(path, reading=True),
}
_TAKEN_IN: dict[str, Callable[[str], dict[str, float]]] = {
    "without ids": lambda path: _added(path, Unit.row()),
    "three rows of an id": lambda path: _added(path, Unit.id(PERSON, limit=3)),
}


def _served() -> dict[str, float]:
    """All pairs of a survey that comes as a DataFrame, released in the process that a server has for it."""
    made = survey(SERVED_ROWS, SERVED_COLUMNS)
    frame = pd.DataFrame({each.name: each.decode(made.codes[:, place]) for place, each in enumerate(made.domain)})
    budget = Budget(epsilon=1, delta=1e-9)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder, worker=True)
        held = desk.add_table(frame, made.domain, unit=Unit.row(), budget=budget)
        start = cpu_of_all()
        paid = desk.submit(desk.plan(held, [Marginals(order=2)], mechanism="tree", budget=budget))
        while desk.progress(paid).state == "running":
            time.sleep(0.1)
        made_of_it = desk.result(paid)
        assert made_of_it is not None, desk.progress(paid)
        made_of_it.zip()
        found = cpu_of_all() - start
        desk.close()
    return {"cpu_s": found}


def _refused() -> dict[str, float]:
    """All pairs of more columns than are served, asked for as a page does: what it takes to say so."""
    domain = Domain(tuple(Integers(name=f"q{place}", low=0, high=4) for place in range(REFUSED_COLUMNS)))
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 5, (2_000, REFUSED_COLUMNS)), columns=domain.names)
    budget = Budget(epsilon=1, delta=1e-9)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder)
        held = desk.add_table(frame, domain, unit=Unit.row(), budget=budget)

        def ask() -> None:
            with suppress(BadParameter):
                desk.recommend(held, [Marginals(order=2)], budget)
                raise AssertionError("all pairs of so many columns are not refused any more")

        found = _measured(ask)
        desk.close()
    return found


_SURVEYS = {(10, 170_000): 1.9, (20, 170_000): 5.5, (35, 170_000): 11.5, (70, 170_000): 31, (100, 170_000): 43}
_SURVEYS |= {(200, 170_000): 200, (10, 5_000_000): 15.5}
"""Columns and rows of generated surveys, and the CPU seconds that 'tree' is to stay below."""
_TREES: dict[str, Callable[[str], dict[str, float]]] = {
    f"tree {columns} x {rows}": lambda _, size=(columns, rows): _synthesised(*size) for columns, rows in _SURVEYS
}
_SIDES = {
    "ours": _ours,
    "release": _release,
    "served": lambda _: _served(),
    "refused": lambda _: _refused(),
    **_TAKEN_IN,
    **_PEERS,
    **_TREES,
}


def _apart(side: str, path: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.ingest", side, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def run() -> Iterator[Line]:
    for (columns, rows), limit in _SURVEYS.items():
        found = _apart(f"tree {columns} x {rows}", Path())
        yield Line("ingest", f"tree, {rows:,} rows x {columns}", "cpu_s", found["cpu_s"], "limit", limit)
        yield Line("ingest", f"tree, {rows:,} rows x {columns}", "rss_mb", found["rss_mb"])
    served, refused = _apart("served", Path())["cpu_s"], _apart("refused", Path())["cpu_s"]
    case = f"through a server, {SERVED_ROWS:,} rows x {SERVED_COLUMNS}"
    yield Line("ingest", case, "cpu_s", served, "limit", SERVED_CPU_S)
    case = f"all pairs of {REFUSED_COLUMNS} columns, refused"
    yield Line("ingest", case, "cpu_s", refused, "limit", REFUSED_CPU_S)
    for kind, rows in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            if rows > PIECE and not _room(Path(folder)):
                print("The case of ten million rows is left out: too little free memory or disk.", file=sys.stderr)
                continue
            path = write_rows(Path(folder), kind, rows)
            case = f"{path.suffix[1:]} {rows:,} x {len(domain())}, 105 pairs"
            ours = _apart("ours", path)
            yield Line("ingest", f"{case}: reading and encoding", "cpu_s", ours["load_cpu_s"])
            for peer in _PEERS:
                theirs = _apart(peer, path)
                for metric in METRICS:
                    yield Line("ingest", case, metric, ours[metric], peer, theirs[metric])
            yield from _desk(path, path.suffix[1:], rows)
            if rows > PIECE:
                for metric, figure in _apart("release", path).items():
                    yield Line("ingest", f"{case}: add to a desk, release by tree", metric, figure)
    if os.environ.get("RELEASE_DESK_BENCH_HUGE"):
        with tempfile.TemporaryDirectory() as folder:
            yield from _desk(write_rows(Path(folder), "parquet", HUGE), "parquet", HUGE)


def _desk(path: Path, kind: str, rows: int) -> Iterator[Line]:
    """What it takes to hold a table in a desk."""
    for side in _TAKEN_IN:
        for metric, figure in _apart(side, path).items():
            limit = LIMITS.get((rows, metric))
            case = f"{kind} {rows:,} x {len(domain())}: taken into a desk, {side}"
            yield Line("ingest", case, metric, figure, "limit" if limit else None, limit)


def _room(folder: Path) -> bool:
    """Whether memory and disk suffice for ten million rows; where the memory is not known, it does not."""
    told = Path("/proc/meminfo")
    found = re.search(r"^MemAvailable:\s+(\d+) kB", told.read_text(), re.MULTILINE) if told.exists() else None
    return found is not None and int(found[1]) * 2**10 > ROOM and shutil.disk_usage(folder).free > ROOM // 8


if __name__ == "__main__":
    print(json.dumps(_SIDES[sys.argv[1]](sys.argv[2])))
