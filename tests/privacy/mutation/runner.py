"""Runs tests on mutants: all tests are loaded once, and each mutant is tried in a process of its own.

First every test runs once on the code as it is and notes which lines of the trusted files it passes through, and how
long it takes. A mutant is then tried by the tests that pass through its line, quick ones first, until one fails. Both
use all cores.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import IO, Any

import pytest
from _pytest.runner import runtestprotocol

from tests.privacy.mutation.graft import graft
from tests.privacy.mutation.mutator import Mutation

ROOT = Path(__file__).resolve().parents[3]
SLOWER, PATIENCE = 3, 300
"""A test that works so many times longer than on the code as it is, and a second more, never ends; nor does a mutant
after so many seconds on the clock. Both count as noticed."""
LONGEST = 15.0
"""Seconds of tests that a mutant is tried by, as they take on the code as it is while lines are noted, which is slow.
Only what survives is tried by all of them."""
ALL_LINES = 0
CORES = os.cpu_count() or 1


@dataclass
class Runner:
    """A pytest plugin that tries mutants in the place of running the tests."""

    trusted: tuple[str, ...]
    chosen: list[Mutation]
    report: Callable[[Mutation, bool, float], None]
    """Is told of each mutant whether a test notices it, and how long that took."""
    seconds: dict[str, float] = field(default_factory=dict)
    passing: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    items: dict[str, pytest.Item] = field(default_factory=dict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        gc.freeze()  # what is loaded is shared with the processes of all mutants
        for ran in self._surveyed(list(self.items.values())):
            self._note(ran)
        again = {ran["test"] for ran in self._surveyed([self.items[test] for test in self.broken]) if ran["failed"]}
        self.broken = [test for test in self.broken if test in again]
        if not self.broken:
            self._try_all()
        gc.unfreeze()
        return True

    def _surveyed(self, items: list[pytest.Item]) -> Iterator[dict[str, Any]]:
        """What a run of each test notes; tests of one file stay together, because they may share what is set up."""
        files = [list(found) for _, found in groupby(items, key=lambda item: item.nodeid.partition("::")[0])]
        shares = [[item for file in files[first::CORES] for item in file] for first in range(CORES)]
        for line in _lines_of([partial(self._survey, items=share) for share in shares if share]):
            yield json.loads(line)

    def _try_all(self) -> None:
        """A mutant is noticed if a test fails on it, it cannot be loaded, or never ends."""
        waiting, running = list(reversed(self.chosen)), dict[int, tuple[Mutation, float]]()
        while waiting or running:
            while waiting and len(running) < CORES:
                mutation = waiting.pop()
                running[_start(partial(self._try, mutation))] = mutation, time.monotonic()
            for child, (mutation, started) in list(running.items()):
                taken = time.monotonic() - started
                if (fails := _has_failed(child, taken)) is not None:
                    del running[child]
                    self.report(mutation, fails, taken)
            time.sleep(0.005)

    def _note(self, ran: dict[str, Any]) -> None:
        test = ran["test"]
        self.seconds[test] = ran["seconds"]
        if ran["failed"]:  # perhaps by chance, and then it would notice mutants by chance
            self.broken.append(test)
            return
        for path, lines in ran["lines"].items():
            for line in [ALL_LINES, *lines]:
                self.passing.setdefault((path, line), set()).add(test)

    def _survey(self, report: Callable[[str], None], items: list[pytest.Item]) -> None:
        watched = {str(ROOT / path): path for path in self.trusted}
        for item, after in _with_next(items):
            lines: dict[str, set[int]] = {}
            started = time.process_time()
            with _noting_lines(watched, lines):
                failed = _fails_on(item, after)
            seconds = time.process_time() - started
            noted = {path: sorted(found) for path, found in lines.items()}
            report(json.dumps({"test": item.nodeid, "seconds": seconds, "failed": failed, "lines": noted}))

    def _try(self, mutation: Mutation) -> bool:
        path = ROOT / mutation.path
        name = mutation.path.removesuffix(".py").replace("/", ".")
        if not graft(name, path, mutation.code(path.read_text())):
            return False
        chosen = [self.items[test] for test in self._tests_of(mutation)]
        return any(self._notices(item, after) for item, after in _with_next(chosen))

    def _notices(self, item: pytest.Item, after: pytest.Item | None) -> bool:
        signal.setitimer(signal.ITIMER_VIRTUAL, SLOWER * self.seconds[item.nodeid] + 1)  # ends this process
        return _fails_on(item, after)

    def _tests_of(self, mutation: Mutation) -> Iterator[str]:
        """Those that pass through its lines; of a line that is run when the file is loaded, all that pass through the
        file, and first those that name the constant, because they may pass through no line."""
        found = set[str]().union(*(self.passing.get((mutation.path, line), ()) for line in mutation.lines))
        tests = found or self.passing.get((mutation.path, ALL_LINES), set())
        naming = {test for test, item in self.items.items() if mutation.sets & _names_of(item)}
        own = f"/test_{Path(mutation.path).name}"
        total = 0.0

        def urgency(test: str) -> tuple[bool, float]:
            return test not in naming, self.seconds[test] * (0.2 if own in test else 1)

        for test in sorted(tests | naming, key=urgency):
            total += self.seconds[test]
            if total > LONGEST:
                return
            yield test


def _names_of(item: pytest.Item) -> frozenset[str]:
    """What a test itself names, behind a module or alone."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    return frozenset(code.co_names if code else ())


def _with_next(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each with the one after it, with which it may share what a module or a session sets up."""
    return zip(items, [*items[1:], None], strict=True)


def _fails_on(item: pytest.Item, after: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=after))


@contextlib.contextmanager
def _noting_lines(watched: dict[str, str], lines: dict[str, set[int]]) -> Iterator[None]:
    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            lines[watched[frame.f_code.co_filename]].add(frame.f_lineno)
        return local

    def every_call(frame: FrameType, event: str, _: object) -> Any:
        path = watched.get(frame.f_code.co_filename)
        if path is None:
            return None
        lines.setdefault(path, set()).add(frame.f_lineno)
        return local

    before = sys.gettrace()
    sys.settrace(every_call)
    try:
        yield
    finally:
        sys.settrace(before)


def _lines_of(works: list[Callable[[Callable[[str], None]], None]]) -> Iterator[str]:
    """What child processes that do the work report, each at the same time as the others."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in works]
        children = [_start(partial(_write_lines, work, file)) for work, file in zip(works, files, strict=True)]
        for child in children:
            os.waitpid(child, 0)
        for file in files:
            file.seek(0)
            yield from file


def _write_lines(work: Callable[[Callable[[str], None]], None], file: IO[str]) -> bool:
    work(lambda line: print(line, file=file, flush=True))
    return False


def _start(work: Callable[[], bool]) -> int:
    """The id of a child process that does the work and ends with 1 if that is true or raises."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            _be_silent()
            code = int(work())
        finally:
            os._exit(code)
    return child


def _has_failed(child: int, taken: float) -> bool | None:
    """Whether its work was true, raised or never ended; None while it works."""
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        return status != 0
    if taken < PATIENCE:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _be_silent() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
