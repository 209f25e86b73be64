"""Every cell is a canary, and everything goes wrong: no message, log, file or page ever sings."""

from __future__ import annotations

import gzip
import io
import logging
import multiprocessing
import os
import pickle
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.base.errors import DeskError
from core.desk import releases
from core.kernel.query import Query
from core.mechanisms.direct.laplace import LaplaceTables
from core.mechanisms.discovery.discovery import Discovery
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.models.tables import Tables
from core.plans.statements import DeskTable
from core.privacy.noise import Noise
from core.schema.domain import Booleans, Categories, Integers
from core.table import column_store, sentences
from core.table.formats.duckdb_rows import DuckRows
from core.table.frame import Frame
from core.table.public_sample import describe
from core.table.table import Table, inspect
from tests.security.leaks.canary import DOMAIN, NUMBER, WORD, frame, hits, told, unpacked

LINE = f"{WORD},{NUMBER},{NUMBER}.5,{WORD}"
HEAD = "town,age,weight,ill"
GOOD = f"{HEAD}\n" + f"{LINE}\n" * 5


@dataclass
class Scene:
    """A desk with a table of canaries, and the means to break things."""

    folder: Path
    patch: pytest.MonkeyPatch
    desk: Desk

    def held(self) -> DeskTable:
        return self.desk.add_table(frame(), DOMAIN, unit=Unit.row(), budget=Budget(8), name="people")

    def plan(self) -> Any:
        return self.desk.plan(self.held(), [Marginals(order=2)], mechanism="laplace", budget=Budget(1))

    def session(self) -> Any:
        return self.desk.ask(self.held(), mechanism="online-laplace", budget=Budget(1), questions=5)

    def load(self, content: bytes | str, name: str = "people.csv", domain: Domain = DOMAIN, **unit: Any) -> Table:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Table.load(path, domain, Unit(**unit) if unit else Unit.row(), Noise())

    def stored(self, *statements: str) -> Path:
        path = self.folder / "people.duckdb"
        rows = frame()
        with duckdb.connect(str(path)) as engine:
            engine.register("given_rows", rows)
            engine.execute("CREATE TABLE people AS SELECT * FROM given_rows")
            for statement in statements:
                engine.execute(statement)
        return path

    def fail(self, owner: Any, name: str, error: BaseException | None = None) -> None:
        """From now on this raises an error that quotes a cell."""

        def failing(*_: Any, **__: Any) -> Any:
            raise error or ValueError(f"could not convert {WORD} to {NUMBER}")

        self.patch.setattr(owner, name, failing)


ILL = Query(columns=("ill",), weights=np.array([1, 0]), words="ill")


def parquet(**options: Any) -> bytes:
    buffer = io.BytesIO()
    frame().to_parquet(buffer, **options)
    return buffer.getvalue()


def cut(content: bytes, start: int, stop: int) -> bytes:
    return content[:start] + content[stop:]


class Rude:
    """An object in a cell that quotes itself when it is looked at."""

    def __str__(self) -> str:
        raise ValueError(WORD)

    __repr__ = __hash__ = __str__  # type: ignore[assignment]


def rude_frame() -> pd.DataFrame:
    rude = {"town": [Rude(), [WORD], {WORD: 1}], "age": [WORD, NUMBER, None], "ill": [b"\xff", 1j, Rude()]}
    return pd.DataFrame(rude)


def answered(scene: Scene, name: str, error: BaseException | None = None) -> Any:
    session = scene.session()
    scene.fail(OnlineLaplace, name, error)
    return session.answer(ILL)


def reopened(scene: Scene, harm: str) -> Any:
    """A session that another desk finds in a damaged file."""
    session = scene.session()
    session.answer(ILL)
    with session.file.database.write() as connection:
        connection.execute(harm)
    other = Desk(scene.desk.folder)
    try:
        return other.session(session.id).answer(Query(columns=("ill",), weights=np.array([0, 1]), words="not ill"))
    finally:
        other.close()


def full_disk(scene: Scene) -> Any:
    plan = scene.plan()
    connect = scene.desk.ledger.database.connect

    def full() -> sqlite3.Connection:
        connection = connect()
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    scene.patch.setattr(scene.desk.ledger.database, "connect", full)
    return scene.desk.release(plan)


def in_background(scene: Scene) -> Any:
    """A run that fails where nobody waits for it; what it says is on the plan's record."""
    plan = scene.plan()
    scene.fail(LaplaceTables, "run")
    scene.desk.submit(plan)
    scene.desk.close()
    raise DeskError(str(scene.desk.progress(plan.id).note))


def damaged_table(scene: Scene) -> Any:
    held = scene.held()
    other = Desk(scene.desk.folder)
    np.save(other.folder / "tables" / held.id / "0.npy", np.array([WORD], dtype=object), allow_pickle=True)
    try:
        return other.release(other.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(1)))
    finally:
        other.close()


def discovered(scene: Scene) -> Any:
    scene.fail(Discovery, "run")
    return scene.desk.discover(frame(), {"town": "text"}, unit=Unit.row(), total=Budget(8), part=Budget(1))


def run_fails(scene: Scene, owner: Any, name: str, error: BaseException | None = None) -> Any:
    plan = scene.plan()
    scene.fail(owner, name, error)
    return scene.desk.release(plan)


def paths() -> dict[str, Callable[[Scene], Any]]:
    """Ways to fail while a cell is near."""
    everywhere = Categories(name="nobody", values=("x",), other="else")
    found: dict[str, Callable[[Scene], Any]] = {
        # Files.
        "too few fields": lambda s: s.load(f"{GOOD}{WORD}\n"),
        "too many fields": lambda s: s.load(f"{GOOD}{LINE},{WORD}\n"),
        "open quote": lambda s: s.load(f'{GOOD}"{LINE}\n'),
        "text after a quote": lambda s: s.load(f'{GOOD}"{WORD}"{WORD},1,2,x\n'),
        "NUL": lambda s: s.load(f"{GOOD}{WORD}\0,1,2,x\n"),
        "Latin-1": lambda s: s.load(f"{GOOD}{WORD}é,1,2,x\n".encode("latin-1")),
        "a cut character": lambda s: s.load(GOOD.encode() + WORD.encode() + b"\xc3"),
        "UTF-16": lambda s: s.load(GOOD.encode("utf-16")),
        "gzip": lambda s: s.load(gzip.compress(GOOD.encode())),
        "pickle": lambda s: s.load(pickle.dumps({WORD: NUMBER})),
        "no header, equal cells": lambda s: s.load(f"{WORD},{WORD}\n{WORD},{WORD}\n"),
        "no header, an empty cell": lambda s: s.load(f"{WORD},,{NUMBER}\n{LINE}\n"),
        "a long line": lambda s: s.load(f"{GOOD}{WORD * 300_000},1,2,x\n"),
        "a long header": lambda s: s.load(f"{WORD}," * 500_000),
        "an open quote in the header": lambda s: s.load(f'"{WORD}\n{GOOD}'),
        "cut Parquet": lambda s: s.load(parquet()[:-40], "people.parquet"),
        "Parquet with a hole": lambda s: s.load(cut(parquet(), 60, 120), "people.parquet"),
        "Parquet with a broken footer": lambda s: s.load(cut(parquet(), -300, -200), "people.parquet"),
        "text named like Parquet": lambda s: s.load(GOOD, "people.parquet"),
        "nested Parquet": lambda s: s.load(_nested(), "people.parquet", Domain((Booleans(name="town"),))),
        "a cut database": lambda s: s.load(s.stored().read_bytes()[:9000], "cut.duckdb"),
        "a database without a name": lambda s: inspect(s.stored()),
        "a view": lambda s: inspect((s.stored("CREATE VIEW v AS SELECT * FROM people"), "v")),
        "a computed column": lambda s: inspect((s.stored("CREATE TABLE g (a INT, b AS (a + 1))"), "g")),
        # Schemas and units.
        "an unknown column": lambda s: s.load(GOOD, domain=Domain((everywhere,))),
        "an unknown id column": lambda s: s.load(GOOD, column="person", limit=2),
        "no id in any row": lambda s: s.load(GOOD.replace(WORD, ""), column="ill", limit=2),
        "another schema for a stored table": lambda s: s.desk.plan(
            s.held(), [Marginals(columns=("nobody",))], mechanism="laplace", budget=Budget(1)
        ),
        "names that are no text": lambda s: Table.load(
            frame().rename(columns={"town": NUMBER}), DOMAIN, Unit.row(), Noise()
        ),
        "rude objects": lambda s: Table.load(
            rude_frame(), Domain((*(DOMAIN[name] for name in ("town", "age", "ill")), everywhere)), Unit.row(), Noise()
        ),
        "a sample that is the table": lambda s: describe(frame(), ["town"], private=frame()),
        "a sample that cannot be read": lambda s: describe(frame(), ["nobody"], private=frame().assign(x=1)),
        # Libraries that quote what they stumble over.
        "a failing cell": lambda s: (s.fail(Categories, "encode"), s.load(GOOD)),
        "a failing number": lambda s: (s.fail(Integers, "encode", OverflowError(NUMBER)), s.load(GOOD)),
        "a failing engine": lambda s: (s.fail(DuckRows, "take", duckdb.DataError(WORD)), s.load(GOOD)),
        "no memory": lambda s: (s.fail(DuckRows, "take", MemoryError(WORD)), s.load(GOOD)),
        "a failing frame": lambda s: (s.fail(Frame, "encode", KeyError(WORD)), s.held()),
        "a failing fingerprint": lambda s: (s.fail(Frame, "fingerprint", TypeError(WORD)), s.held()),
        "no room for the codes": lambda s: (s.fail(column_store, "_settle", OSError(28, "No space left")), s.held()),
        "a damaged table": damaged_table,
        # Runs.
        "a failing mechanism": lambda s: run_fails(s, LaplaceTables, "run"),
        "a failing selection": lambda s: run_fails(s, LaplaceTables, "run", IndexError(NUMBER)),
        "a failing model": lambda s: run_fails(s, Tables, "sample"),
        "a failing certificate": lambda s: run_fails(s, releases, "certify"),
        "a failing archive": lambda s: run_fails(s, releases, "seal"),
        "a failing sampler": lambda s: run_fails(s, Noise, "laplace", FloatingPointError(WORD)),
        "a failing reader": lambda s: run_fails(s, Table, "marginal", RuntimeError(WORD)),
        "a full disk": full_disk,
        "a run that nobody waits for": in_background,
        "a table that is gone": lambda s: (p := s.plan(), shutil.rmtree(s.desk.folder / "tables"), s.desk.release(p)),
        "a discovery": discovered,
        # Sessions.
        "a failing answer": lambda s: answered(s, "answer"),
        "a failing state": lambda s: answered(s, "save", UnicodeDecodeError("utf-8", WORD.encode(), 0, 1, "bad")),
        "a session that cannot open": lambda s: (s.fail(OnlineLaplace, "open"), s.session()),
        "a question about nothing": lambda s: s.session().answer(
            Query(columns=("nobody",), weights=np.array([1, 0]), words="nobody")
        ),
        "a damaged state": lambda s: reopened(s, "UPDATE state SET version = 1, data = X'7B'"),
        "a full disk in a session": lambda s: (
            a := s.session(), s.patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0)),
            a.answer(ILL),
        ),
        "a closed session": lambda s: (a := s.session(), a.close(), a.answer(ILL)),
    }  # fmt: skip
    return found


def _nested() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"town": [[WORD]], "age": [NUMBER]}).to_parquet(buffer)
    return buffer.getvalue()


PATHS = paths()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    desk = Desk(tmp_path / "workspace")
    yield Scene(tmp_path, monkeypatch, desk)
    desk.close()


def failure(scene: Scene, path: str) -> BaseException | None:
    """What a curator's notebook would get."""
    try:
        PATHS[path](scene)
    except Exception as problem:
        return problem
    return None


def written(folder: Path) -> str:
    """What the workspace keeps as text: notes, names, terms. Codes and stored releases are looked at elsewhere."""
    kept = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".npy"]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in kept)


def test_there_are_fifty_paths() -> None:
    assert len(PATHS) >= 50


@pytest.mark.crossing(keep=15)
@pytest.mark.parametrize("path", PATHS)
def test_no_failure_sings(
    path: str, scene: Scene, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    problem = failure(scene, path)
    assert isinstance(problem, DeskError), f"must fail with one of our own: {type(problem).__name__}"
    assert hits("\n".join(told(problem))) == []
    assert hits(caplog.text) == []
    assert hits("".join(capfd.readouterr())) == []
    assert hits(written(scene.desk.folder)) == []


@pytest.mark.exhaustive
def test_no_success_sings(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    release, session = scene.desk.release(scene.plan()), scene.session()
    session.answer(ILL)
    assert hits(unpacked(release.zip())) == []
    assert hits(session.transcript_csv().decode()) == []
    assert hits(caplog.text + written(scene.desk.folder) + repr(scene.desk.tables())) == []


def killed(folder: Path) -> None:
    """A curator whose process is killed when a mechanism holds the counts."""
    desk = Desk(folder)
    held = desk.add_table(frame(), DOMAIN, unit=Unit.row(), budget=Budget(8), name="people")
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(1))
    LaplaceTables.run = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign,assignment]
    desk.release(plan)


@pytest.mark.exhaustive
def test_a_killed_run_leaves_no_song(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    child = multiprocessing.get_context("spawn").Process(target=killed, args=(tmp_path / "workspace",))
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL
    assert len(Desk(tmp_path / "workspace").ledger.pending()) == 1
    assert hits("".join(capfd.readouterr())) == []
    assert hits(written(tmp_path)) == []


# Careless ways, and where each is heard.


def test_a_message_that_quotes_is_heard(scene: Scene) -> None:
    scene.patch.setattr(sentences, "_plain", str)
    problem = failure(scene, "too few fields")
    assert hits("\n".join(told(problem)))


def test_a_context_is_heard() -> None:
    for cause in (True, False):
        try:
            try:
                raise ValueError(WORD)
            except ValueError as error:
                if cause:
                    raise DeskError("A sentence.") from error
                raise DeskError("A sentence.") from None
        except DeskError as problem:
            assert hits("\n".join(told(problem)))


def test_a_log_is_heard(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("core").warning("row %s does not fit", frame().iloc[0].to_dict())
    assert hits(caplog.text)


def test_an_export_is_heard(scene: Scene) -> None:
    declared = Domain((Categories(name="town", values=("Aa", WORD), other="elsewhere"),))
    held = scene.desk.add_table(frame(), declared, unit=Unit.row(), budget=Budget(8))
    plan = scene.desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(4))
    assert hits(unpacked(scene.desk.release(plan).zip()))


def test_a_note_in_the_workspace_is_heard(scene: Scene) -> None:
    plan = scene.plan()
    scene.fail(LaplaceTables, "run", DeskError(f"the value {WORD}"))
    with pytest.raises(DeskError):
        scene.desk.release(plan)
    assert hits(written(scene.desk.folder))
