"""`python -m tests.privacy.mutation` tries every mutation of the trusted files; `--sample 60` some.

What no test notices is listed; `equivalent.py` names those that break no promise, and why. A sample is chosen by the
code and its tests: the same code tries the same mutants, every change of it tries others.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from dataclasses import dataclass, field

import pytest
from scipy.stats import binom

from tests.privacy.mutation.equivalent import breaks_no_promise
from tests.privacy.mutation.mutator import Mutation, mutations
from tests.privacy.mutation.runner import Runner
from tests.privacy.mutation.tests_of import ROOT, TRUSTED, tests_of

WANTED = 0.95
SURE = 1e-3
"""A sample fails only where so few runs of code that is as good as wanted would."""


@dataclass
class Tally:
    """What was tried, and what nobody noticed."""

    tried: int = 0
    survivors: list[str] = field(default_factory=list)

    def note(self, mutation: Mutation, noticed: bool, seconds: float) -> None:
        self.tried += 1
        if not noticed:
            self.survivors.append(mutation.name)
        print("noticed " if noticed else "survived", f"{seconds:5.1f} s", mutation.name, flush=True)

    @property
    def too_many(self) -> bool:
        """Whether more survive than of so many mutants when the share wanted is noticed."""
        return len(self.survivors) > binom.isf(SURE, self.tried, 1 - WANTED)


def sampled(every: list[Mutation], size: int) -> list[Mutation]:
    """The same of the same code and tests."""
    digest = hashlib.sha256()
    for file in sorted({*TRUSTED, *(test for path in TRUSTED for test in tests_of(path))}):
        digest.update((ROOT / file).read_bytes())
    return random.Random(digest.digest()).sample(every, min(size, len(every)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.privacy.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, help="so many; the same of the same code")
    parser.add_argument("--only", default="", help="those whose name contains this: a file, a function")
    options = parser.parse_args()
    found = (each for path in TRUSTED for each in mutations(path, (ROOT / path).read_text()))
    every = [each for each in found if options.only in each.name]
    open_ = [each for each in every if not breaks_no_promise(each.name)]
    trials, tally = sampled(open_, options.sample or len(open_)), Tally()
    paths = {each.path for each in trials}
    tests = list(dict.fromkeys(test for path in sorted(paths) for test in tests_of(path)))
    runner = Runner(tuple(sorted(paths)), trials, tally.note)
    pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[runner])
    if runner.broken:
        print("These tests fail on the code as it is:", *runner.broken, sep="\n")
        return 2
    share = 1 - len(tally.survivors) / max(tally.tried, 1)
    known = len(every) - len(open_)
    print(f"{tally.tried} of {len(every)} mutants tried, {share:.1%} noticed; {known} are known to break no promise.")
    return int(tally.too_many if options.sample else share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
