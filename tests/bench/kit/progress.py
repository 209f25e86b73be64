"""Finished parts of a long benchmark, kept in a file so that a run which was stopped goes on where it ended.

`RELEASE_DESK_BENCH_PROGRESS` names the file; without it nothing is kept. A part counts only for the code that made it:
parts of another state of `core` or of these benchmarks are left where they are and made again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.bench.kit.real_data import ROOT

PROGRESS = "RELEASE_DESK_BENCH_PROGRESS"
CODE = ("core", "tests/bench")
"""Folders whose files decide what a part gives."""


def kept(key: str, make: Callable[[], Any]) -> Any:
    """What a part gave, as JSON: read from the file if this code has made it before, else made and written there."""
    named = os.environ.get(PROGRESS)
    if not named:
        return make()
    found = _parts(Path(named)).get((code_digest(), key))
    if found is None:
        found = make()
        line = json.dumps({"code": code_digest(), "key": key, "part": found})
        with Path(named).open("a", encoding="utf-8") as file:
            # A line that was cut off before must not take this one with it.
            file.write(f"\n{line}\n")
    return found


@cache
def code_digest() -> str:
    """Of the text of all code and data that a part follows from."""
    digest = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".json"):
                digest.update(f"{path.relative_to(ROOT)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _parts(path: Path) -> dict[tuple[str, str], Any]:
    """All whole lines; one that was cut off when a run was killed is none."""
    found: dict[tuple[str, str], Any] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            read = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[read["code"], read["key"]] = read["part"]
    return found
