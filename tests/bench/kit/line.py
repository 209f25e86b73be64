"""What a benchmark reports, and how it measures."""

from __future__ import annotations

import os
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """One metric of one case, ours beside a peer's; `metric` names its unit."""

    bench: str
    case: str
    metric: str
    ours: float
    peer: str | None = None
    theirs: float | None = None
    theirs_from: str | None = None
    """'recorded' where the peer's figure was not measured in this run; 'run' where it was, though it need not be."""

    def to_json(self) -> dict[str, Any]:
        """The printed object; figures have four digits, `ratio` is ours divided by theirs."""
        data = {
            "bench": self.bench,
            "case": self.case,
            "metric": self.metric,
            "ours": _four_digits(self.ours),
            "peer": self.peer,
            "theirs": _four_digits(self.theirs),
            "ratio": _four_digits(self.ours / self.theirs if self.theirs else None),
        }
        return data if self.theirs_from is None else data | {"theirs_from": self.theirs_from}


def _four_digits(figure: float | None) -> float | int | None:
    if figure is None:
        return None
    rounded = float(f"{figure:.4g}")
    return int(rounded) if rounded.is_integer() else rounded


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """CPU seconds of this process for one call, the median of several after one to warm up.

    Other programs on the machine stretch the clock on the wall, not this figure.
    """
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return sorted(seconds)[len(seconds) // 2]


def cpu_of_all() -> float:
    """CPU seconds of this process and all below it, those that ended included."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            after = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(place.name)] = int(after[1]), sum(map(int, after[11:15]))
    ours = {os.getpid()}
    while more := {each for each, (parent, _) in found.items() if parent in ours} - ours:
        ours |= more
    return sum(found[each][1] for each in ours if each in found) / os.sysconf("SC_CLK_TCK")


def peak_mb() -> float:
    """Largest memory of this process. Linux hands `ru_maxrss` on from the parent at exec; VmHWM starts afresh."""
    status = Path("/proc/self/status")
    found = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE) if status.exists() else None
    if found:
        return int(found[1]) / 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
