"""From a file to all 2-way tables of counts: load, encode and count here, against the same GROUP BYs in DuckDB.

One million rows, 8 columns of text and 7 of numbers, 105 pairs. The peer `duckdb-groupby` counts a table it already
holds in memory, so its time contains no reading at all; `duckdb-load-groupby` also reads the file. Each side runs in a
process of its own, which reports wall seconds, CPU seconds and its largest memory.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from core.domain import Attribute, Categories, Domain, Integers, Reals
from core.noise import Noise
from core.privacy import Unit
from core.table import Table
from tests.bench.line import Line, peak_rss_mb

ROWS = 1_000_000
TEXTS = {"sex": 2, "smoker": 2, "race": 5, "relation": 6, "marital": 7, "work": 9, "education": 16, "country": 42}
WHOLES = {"age": 100, "hours": 100, "children": 12, "year": 120}
REALS = {"income": 50, "weight": 64, "score": 100}
METRICS = ("wall_s", "cpu_s", "rss_mb")


def domain() -> Domain:
    texts: list[Attribute] = [Categories(name=name, values=tuple(_values(name))) for name in TEXTS]
    wholes: list[Attribute] = [Integers(name=name, low=0, high=size - 1) for name, size in WHOLES.items()]
    reals: list[Attribute] = [Reals(name=name, low=0, high=1000, bins=bins) for name, bins in REALS.items()]
    return Domain((*texts, *wholes, *reals))


def _values(name: str) -> list[str]:
    return [f"{name} number {code}" for code in range(TEXTS[name])]


def _write(folder: Path) -> dict[str, Path]:
    """The same made-up rows as Parquet and as CSV; skewed, as real columns are."""
    generator = np.random.default_rng(1)
    skewed = {name: (generator.beta(1, 3, ROWS) * size).astype(int) for name, size in {**TEXTS, **WHOLES}.items()}
    frame = pd.DataFrame({name: np.array(_values(name))[skewed[name]] for name in TEXTS})
    frame = frame.assign(**{name: skewed[name] for name in WHOLES})
    frame = frame.assign(**{name: np.round(generator.beta(1, 3, ROWS) * 1000, 3) for name in REALS})
    paths = {"parquet": folder / "rows.parquet", "csv": folder / "rows.csv"}
    frame.to_parquet(paths["parquet"], index=False)
    engine = duckdb.connect()
    engine.sql("SELECT * FROM frame").write_csv(str(paths["csv"]))
    return paths


def _ours(path: str) -> dict[str, float]:
    def work() -> None:
        table = Table.load(path, domain(), Unit.row(), Noise())
        for pair in itertools.combinations(table.domain.names, 2):
            table.marginal(pair)

    return _measured(work)


def _duckdb(path: str, reading: bool) -> dict[str, float]:
    engine = duckdb.connect()

    def load() -> None:
        engine.execute(f"CREATE TABLE people AS FROM '{path}'")

    def count() -> None:
        keys = {name: name for name in (*TEXTS, *WHOLES)}
        keys |= {name: f"least(floor({name} * {bins / 1000}), {bins - 1})" for name, bins in REALS.items()}
        for one, two in itertools.combinations(keys, 2):
            engine.execute(f"SELECT {keys[one]} AS a, {keys[two]} AS b, count(*) FROM people GROUP BY ALL").fetchnumpy()

    if reading:
        return _measured(lambda: (load(), count()))
    load()
    return _measured(count)


def _peak_mb() -> float:
    """Largest memory of this process. Linux hands `ru_maxrss` on from the parent at exec; VmHWM starts afresh."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        if found:
            return int(found[1]) / 2**10
    return peak_rss_mb()


def _measured(work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return dict(zip(METRICS, (time.perf_counter() - wall, time.process_time() - cpu, _peak_mb()), strict=True))


_SIDES: dict[str, Callable[[str], dict[str, float]]] = {
    "ours": _ours,
    "duckdb-groupby": lambda path: _duckdb(path, reading=False),
    "duckdb-load-groupby": lambda path: _duckdb(path, reading=True),
}


def _apart(side: str, path: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.ingest", side, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in _write(Path(folder)).items():
            figures = {side: _apart(side, path) for side in _SIDES}
            for peer in list(_SIDES)[1:]:
                for metric in METRICS:
                    case = f"{kind} {ROWS:,} x {len(domain())}, 105 pairs"
                    yield Line("ingest", case, metric, figures["ours"][metric], peer, figures[peer][metric])


if __name__ == "__main__":
    print(json.dumps(_SIDES[sys.argv[1]](sys.argv[2])))
