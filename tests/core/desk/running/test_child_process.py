"""A process for heavy work: it finds the program, hears and answers by pipes, and ends with whoever started it."""

from __future__ import annotations

import os

import pytest

from core.desk.running import child_process

BEGIN = "import sys; from core.desk.running.child_process import settle; told = settle({nice}); "


def answered(program: str, said: bytes = b"", environment: dict[str, str] | None = None) -> bytes:
    process = child_process.start(["-c", program], environment)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(said)
    process.stdin.close()
    found = process.stdout.read()
    child_process.close(process)
    assert process.returncode == 0
    return found


def test_only_answers_come_by_the_pipe_whatever_is_printed() -> None:
    program = BEGIN.format(nice=0) + "print('from a library'); told.write(sys.stdin.buffer.read()); told.close()"
    assert answered(program, b"question") == b"question"


def test_it_is_less_urgent_and_hears_no_interrupt() -> None:
    program = (
        BEGIN.format(nice=3)
        + "import os, signal; os.kill(os.getpid(), signal.SIGINT); told.write(b'%d' % os.nice(0)); told.close()"
    )
    assert int(answered(program)) == min(os.nice(0) + 3, 19)


def test_what_it_alone_may_know_is_in_its_environment_and_in_no_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    program = "import os, sys; sys.stdout.write(os.environ['SECRET'] + ' ' + os.environ['PYTHONPATH'])"
    secret, path = answered(program, environment={"SECRET": "hidden"}).decode().split(" ")
    assert secret == "hidden" and "SECRET" not in os.environ
    assert path.split(os.pathsep) == [str(child_process.ROOT), "somewhere"]


def test_it_leaves_half_of_the_processors_to_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process.os, "cpu_count", lambda: 6)
    for name in child_process.THREADS:
        monkeypatch.delenv(name, raising=False)
    program = f"import os, sys; sys.stdout.write(' '.join(os.environ[name] for name in {child_process.THREADS}))"
    assert answered(program) == b"3 3 3"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    assert answered(program) == b"3 5 3", "as whoever runs the server says"


def test_closing_is_the_end_it_waits_for() -> None:
    process = child_process.start(["-c", "import sys; sys.exit(len(sys.stdin.buffer.read()))"])
    child_process.close(process)
    assert process.returncode == 0


def test_one_that_died_before_it_was_asked_is_closed_all_the_same() -> None:
    process = child_process.start(["-c", "pass"])
    process.wait()
    assert process.stdin is not None
    with pytest.raises(BrokenPipeError):
        process.stdin.write(b"a question\n")
        process.stdin.flush()
    child_process.close(process)
    assert process.returncode == 0
