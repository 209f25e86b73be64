"""dpmm, a peer that pins old versions of numpy, pandas and opendp, run in an environment of its own.

This file is read twice: by the benchmark, which calls `synthetic`, and as a script by the other interpreter, which
reads codes from a folder, draws as many synthetic rows and writes them back. It therefore imports neither `core` nor
`tests`. Both sides exchange plain arrays of codes, so the same code scores every system.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

PYTHON = "RELEASE_DESK_DPMM_PYTHON"
"""Environment variable: the Python of an environment that has dpmm."""
MODELS = {
    "dpmm MST": ("MSTGM", {}),
    "dpmm AIM": ("AIMGM", {"rounds": 60, "n_iters": 80, "max_model_size": 4}),
}
"""Class and settings; AIM with its own defaults does not end within half an hour on this table."""


def interpreter() -> str | None:
    """The other environment's Python, if one is named; a sentence on stderr says how to name one otherwise."""
    named = os.environ.get(PYTHON)
    if not named:
        print(f"dpmm is not run; its recorded figures stand in. {_advice()}", file=sys.stderr)
    return named or None


def synthetic(
    python: str, peer: str, codes: np.ndarray, sizes: Mapping[str, int], epsilon: float, delta: float
) -> tuple[np.ndarray, dict[str, float]]:
    """As many synthetic rows as there are rows, and what they took: `cpu_s` without imports, `rss_mb` with them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "codes.npy", codes)
        model, settings = MODELS[peer]
        task = {"model": model, "settings": {"epsilon": epsilon, "delta": delta, **settings}, "sizes": dict(sizes)}
        (folder / "task.json").write_text(json.dumps(task))
        # -I keeps this folder's module names out of the peer's way
        done = subprocess.run([python, "-I", __file__, name], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{peer} did not run with {PYTHON}={python}. {_advice()}\n{done.stderr[-2000:]}")
        return np.load(folder / "drawn.npy"), json.loads((folder / "spent.json").read_text())


def _advice() -> str:
    return (
        "Make an environment with 'python3.11 -m venv .venv-dpmm && .venv-dpmm/bin/pip install dpmm==0.1.9' "
        f"and set {PYTHON} to .venv-dpmm/bin/python."
    )


def _work(folder: Path) -> None:
    import dpmm.models.aim
    import dpmm.models.mst
    import pandas as pd

    task = json.loads((folder / "task.json").read_text())
    frame = pd.DataFrame(np.load(folder / "codes.npy"), columns=list(task["sizes"]))
    start = time.process_time()
    kinds = {"MSTGM": dpmm.models.mst.MSTGM, "AIMGM": dpmm.models.aim.AIMGM}
    # one job: its pool of processes would hide CPU time and memory
    model = kinds[task["model"]](**task["settings"], domain=task["sizes"], n_jobs=1)
    model.set_random_state(np.random.RandomState())
    model.set_domain(task["sizes"])
    model.fit(frame)
    drawn = model.generate(n_records=len(frame))
    spent = {"cpu_s": time.process_time() - start, "rss_mb": _peak_mb()}
    np.save(folder / "drawn.npy", drawn[list(task["sizes"])].to_numpy().astype(np.int64))
    (folder / "spent.json").write_text(json.dumps(spent))


def _peak_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


if __name__ == "__main__":
    _work(Path(sys.argv[1]))
