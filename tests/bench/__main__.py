"""`python -m tests.bench NAME [NAME...]`: run benchmarks beside their peers, one JSON object per line and metric."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Sequence

import tests.bench


def names() -> list[str]:
    """Benchmarks are the modules of this folder, its tests aside; what they share is in `kit`."""
    found = (module.name for module in pkgutil.iter_modules(tests.bench.__path__) if not module.ispkg)
    return sorted(name for name in found if name != "__main__" and not name.startswith("test_"))


def main(arguments: Sequence[str]) -> int:
    known = names()
    if not arguments or any(name not in known for name in arguments):
        print(f"Name one or more benchmarks: {', '.join(known)}.", file=sys.stderr)
        return 2
    for name in arguments:
        for line in importlib.import_module(f"tests.bench.{name}").run():
            print(json.dumps(line.to_json()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
