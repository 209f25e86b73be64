"""Where real tables for benchmarks are: beside the project, or where the environment says."""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

import numpy as np

from core.privacy.unit import Unit
from core.schema.domain import Attribute, Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn

DATA = "RELEASE_DESK_BENCH_DATA"
"""Environment variable: the folder that holds adult.csv, adult-domain.json and dpbench."""
ORDERED = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
"""Columns of the census table whose codes have an order."""
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


def adult(folder: Path, *, yes_or_no: bool = False) -> StandIn:
    """The census table, 48,842 rows and 14 columns; columns of two values are categories unless that is said."""
    sizes = json.loads((folder / "adult-domain.json").read_text())
    with (folder / "adult.csv").open() as file:
        header = next(csv.reader(file))
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)

    def attribute(name: str) -> Attribute:
        if name in ORDERED:
            return Integers(name=name, low=0, high=sizes[name] - 1)
        if yes_or_no and sizes[name] == 2:
            return Booleans(name=name)
        return Categories(name=name, values=tuple(range(sizes[name])))

    return StandIn(Domain(tuple(map(attribute, header))), codes, Unit.row())
