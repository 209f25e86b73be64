"""Where real tables for benchmarks are: beside the project, or where the environment says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DATA = "RELEASE_DESK_BENCH_DATA"
ROOT = Path(__file__).resolve().parents[3]


def data_folder() -> Path:
    return Path(os.environ.get(DATA, ROOT.parent / "shared" / "data"))


def adult_folder(left_out: str = "") -> Path | None:
    """The folder that holds the census table; a sentence that says what is left out, and None, where it is not here."""
    folder = data_folder()
    if (folder / "adult.csv").exists():
        return folder
    print(f"No adult.csv in {folder.name}{left_out}; set {DATA} to the folder that holds it.", file=sys.stderr)
    return None
