"""Runs tests on mutants: all tests are loaded once, and each mutant is tried in a process of its own.

First every test runs once on the code as it is and notes which lines of the trusted files it passes through, and how
long it takes. A mutant is then tried by the tests that pass through its line, quick ones first, until one fails. Both
use all cores, and one PostgreSQL server where tests need one.
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
from types import CodeType, FrameType
from typing import IO, Any

import pytest
from _pytest.runner import runtestprotocol

from tests.databases import RUNNING, StartedServer
from tests.privacy.mutation.graft import graft
from tests.privacy.mutation.mutator import Mutation
from tests.privacy.mutation.tests_of import ON_SERVERS, ROOT, tests_of

SLOWER, PATIENCE = 3, 30
"""A test that works so many times longer than on the code as it is, and a second more, never ends; nor does one that
takes ten times as long on the clock, and so many seconds more. Both count as noticed."""
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
    """Of work, for each test."""
    clock: dict[str, float] = field(default_factory=dict)
    """The same with the time in which it waits."""
    passing: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    items: dict[str, pytest.Item] = field(default_factory=dict)
    server: StartedServer | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items if _counts(item)}
        with self._server(session.config):
            gc.freeze()  # what is loaded is shared with the processes of all mutants
            for ran in self._surveyed(list(self.items.values())):
                self._note(ran)
            again = {ran["test"] for ran in self._surveyed([self.items[test] for test in self.broken]) if ran["failed"]}
            self.broken = [test for test in self.broken if test in again]
            if not self.broken:
                self._try_all()
            gc.unfreeze()
        return True

    @contextlib.contextmanager
    def _server(self, config: pytest.Config) -> Iterator[None]:
        """Started once: processes that end in the midst of a test would leave theirs behind."""
        if not any("postgres" in getattr(item, "fixturenames", ()) for item in self.items.values()):
            yield
            return
        self.server = config.stash[RUNNING] = StartedServer()
        try:
            yield
        finally:
            self.server.stop()

    def _take_place(self, place: int) -> None:
        """In a child process: its databases are not those of the others that run beside it."""
        if self.server is not None:
            self.server.first_name = f"desk{place}_"

    def _surveyed(self, items: list[pytest.Item]) -> Iterator[dict[str, Any]]:
        """What a run of each test notes; tests of one file stay together, because they may share what is set up."""
        files = [list(found) for _, found in groupby(items, key=lambda item: item.nodeid.partition("::")[0])]
        shares = [[item for file in files[first::CORES] for item in file] for first in range(CORES)]
        works = [partial(self._survey, place=place, items=share) for place, share in enumerate(shares) if share]
        for line in _lines_of(works):
            yield json.loads(line)

    def _try_all(self) -> None:
        """A mutant is noticed if a test fails on it, it cannot be loaded, or never ends."""
        waiting, free = list(reversed(self.chosen)), list(range(CORES))
        running = dict[int, tuple[Mutation, int, float]]()
        while waiting or running:
            while waiting and free:
                mutation, place = waiting.pop(), free.pop()
                running[_start(partial(self._try, mutation, place))] = mutation, place, time.monotonic()
            child, status = os.wait()
            mutation, place, started = running.pop(child)
            _end_children(child)
            free.append(place)
            self.report(mutation, status != 0, time.monotonic() - started)

    def _note(self, ran: dict[str, Any]) -> None:
        test = ran["test"]
        self.seconds[test], self.clock[test] = ran["seconds"], ran["clock"]
        if ran["failed"]:  # perhaps by chance, and then it would notice mutants by chance
            self.broken.append(test)
            return
        for path, lines in ran["lines"].items():
            for line in [ALL_LINES, *lines]:
                self.passing.setdefault((path, line), set()).add(test)

    def _survey(self, report: Callable[[str], None], place: int, items: list[pytest.Item]) -> None:
        self._take_place(place)
        watched = {str(ROOT / path): path for path in self.trusted}
        for item, after in _with_next(items):
            lines: dict[str, set[int]] = {}
            clock, started = time.monotonic(), time.process_time()
            with _noting_lines(watched, lines):
                failed = _fails_on(item, after)
            times = {"seconds": time.process_time() - started, "clock": time.monotonic() - clock}
            noted = {path: sorted(found) for path, found in lines.items()}
            report(json.dumps({"test": item.nodeid, "failed": failed, "lines": noted, **times}))

    def _try(self, mutation: Mutation, place: int) -> bool:
        self._take_place(place)
        path = ROOT / mutation.path
        name = mutation.path.removesuffix(".py").replace("/", ".")
        if not graft(name, path, mutation.code(path.read_text())):
            return False
        chosen = [self.items[test] for test in self._tests_of(mutation)]
        return any(self._notices(item, after) for item, after in _with_next(chosen))

    def _notices(self, item: pytest.Item, after: pytest.Item | None) -> bool:
        # Both end this process.
        signal.setitimer(signal.ITIMER_VIRTUAL, SLOWER * self.seconds[item.nodeid] + 1)
        signal.setitimer(signal.ITIMER_REAL, 10 * self.clock[item.nodeid] + PATIENCE)
        return _fails_on(item, after)

    def _tests_of(self, mutation: Mutation) -> Iterator[str]:
        """Those that pass through its lines; of a line that is run when the file is loaded, all that pass through the
        file, or all there are where it has constants only. First those that name the constant."""
        found = set[str]().union(*(self.passing.get((mutation.path, line), ()) for line in mutation.lines))
        files = tests_of(mutation.path)
        tests = (
            found
            or self.passing.get((mutation.path, ALL_LINES))
            or {test for test in self.items if test.partition("::")[0] in files}
        )
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


def _counts(item: pytest.Item) -> bool:
    """Checks of a second and more count; the other cases of a crossing would only repeat what one shows."""
    slow = item.get_closest_marker("slow") and item.nodeid.partition("::")[0] not in ON_SERVERS
    return not slow and not any(item.get_closest_marker(name) for name in ("crossed", "browser"))


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
    """A function all of whose lines were met is not followed any more, which is where most of the time would go."""
    unmet: dict[CodeType, set[int]] = {}

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            left = unmet[frame.f_code]
            if frame.f_lineno in left:
                left.remove(frame.f_lineno)
                lines[watched[frame.f_code.co_filename]].add(frame.f_lineno)
            if not left:
                frame.f_trace_lines = False
        return local

    def every_call(frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        path = watched.get(code.co_filename)
        if path is None:
            return None
        if (left := unmet.get(code)) is None:
            left = unmet[code] = {line for _, _, line in code.co_lines() if line} - {code.co_firstlineno}
            lines.setdefault(path, set()).add(code.co_firstlineno)
        return local if left else None

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


def _end_children(child: int) -> None:
    """What a process that has ended may have left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _be_silent() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
