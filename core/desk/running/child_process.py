"""Processes that a server starts for heavy work: how one begins on either side, and what it is told by."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

ROOT = Path(__file__).resolve().parents[3]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What tells numpy and scipy how many threads they may use; a setting of whoever runs the server stays."""


def start(words: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A Python of our own that finds this program, asked and answering by pipes.

    What must not be seen goes into the environment: everybody on the machine may read arguments.
    """
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    few = dict.fromkeys(THREADS, str(max(1, (os.cpu_count() or 1) // 2)))  # the others are left to pages
    variables = {**few, **os.environ, "PYTHONPATH": path, **(environment or {})}
    return subprocess.Popen([sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables)


def close(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes, which it takes for the end, and wait for it."""
    # Of one that died the last word may still be on its way.
    with suppress(BrokenPipeError), process:
        pass


def settle(less_urgent: int) -> BinaryIO:
    """What a process that was started so does first: the pipe for its answers, which nobody else writes to."""
    # Ctrl-C in a terminal reaches every process of it; the server ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(less_urgent)
    told = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    return told
