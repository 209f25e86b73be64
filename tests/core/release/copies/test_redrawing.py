"""Synthetic copies: a release has them where its plan says so, they cost nothing, and intervals from them hold."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Integers, Marginals, Release, Unit, combine
from core.base.errors import BadParameter, Refused
from core.kernel.kernel import Kernel
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.plans.statements import DeskTable
from core.registry import mechanism_from
from core.release.copies import redrawing
from core.release.copies.redrawing import Redrawing
from core.schema.domain import Booleans, Categories, Domain
from core.table.stand_in import StandIn
from tests.core.people import DOMAIN, PAIRS, desk, held, people

__all__ = ["desk", "held"]
HALF = Budget("0.5")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    desk = Desk(tmp_path_factory.mktemp("copies"))
    table = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=Budget(2))
    made = desk.release(desk.plan(table, PAIRS, mechanism="laplace", budget=Budget(1), copies=3, measure=0))
    desk.close()
    return made


@pytest.mark.exhaustive
def test_copies_look_like_the_records_and_differ(release: Release) -> None:
    records, copies = release.records(), release.copies()
    assert release.certificate.copies == len(copies) == 3
    for copy in (*copies, *release.origins()):
        assert list(copy.columns) == list(records.columns)
        assert list(copy.dtypes) == list(records.dtypes)
        assert len(copy) == len(records)
    tables = [frame.groupby(["region", "ill"]).size().tolist() for frame in (records, *copies)]
    assert all(one != other for place, one in enumerate(tables) for other in tables[:place])
    assert np.ptp([frame["ill"].mean() for frame in (records, *copies)]) < 0.1


@pytest.mark.exhaustive
def test_they_are_in_the_archive_twice(release: Release) -> None:
    with zipfile.ZipFile(io.BytesIO(release.zip())) as archive:
        text = pd.read_csv(io.BytesIO(archive.read("copies/synthetic-02.csv")))
        assert "3 tables that the original may be" in archive.read("README.txt").decode()
        assert "3 with their origins" in archive.read("report.html").decode()
    assert text["age"].tolist() == release.copies()[1]["age"].tolist()


def test_an_estimate_has_an_interval(release: Release) -> None:
    found = release.estimate(lambda records: records["ill"].mean())
    assert found.low < found.estimate < found.high
    assert found.estimate == release.records()["ill"].mean()
    wider = release.estimate(lambda records: records["ill"].mean(), variance=lambda records: records["ill"].var())
    assert wider.error > found.error
    several = release.estimate(lambda records: records.groupby("region")["ill"].mean())
    assert several.low.shape == (4,)


@pytest.mark.exhaustive
def test_the_script_needs_no_release_desk(release: Release, tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(release.zip())).extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "combine.py"], cwd=tmp_path, check=True, timeout=120, capture_output=True, text=True,
        env={"PATH": ""},
    )  # fmt: skip
    assert "estimate" in done.stdout
    assert "ill" in done.stdout
    assert "core" not in (tmp_path / "combine.py").read_text(encoding="utf-8").partition("\n\n\n")[0].split()


def test_they_cost_nothing_and_are_another_plan(desk: Desk, held: DeskTable) -> None:
    plain = desk.plan(held, PAIRS, mechanism="laplace", budget=HALF, measure=0)
    copied = desk.plan(held, PAIRS, mechanism="laplace", budget=HALF, measure=0, copies=2)
    assert copied.units == plain.units
    assert copied.id != plain.id
    assert "copies" not in plain.content
    assert desk.release(plain).copies() == []
    with pytest.raises(Refused, match="no copies"):
        desk.release(plain).estimate(lambda records: 1.0)


def test_a_number_that_cannot_be(desk: Desk, held: DeskTable) -> None:
    for copies in (-1, 21, 2.5, "3", True, None):
        with pytest.raises(BadParameter, match="copies"):
            desk.plan(held, PAIRS, mechanism="laplace", budget=HALF, copies=copies)  # type: ignore[arg-type]
    assert desk.statement(held).spent_share == 0


@pytest.mark.exhaustive
def test_a_copy_that_cannot_be_made_does_not_lose_the_release(
    desk: Desk, held: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    real = Redrawing.__call__

    def failing(self: Redrawing, generator: np.random.Generator):
        made.append(1)
        if len(made) == 2:
            raise ZeroDivisionError
        return real(self, generator)

    monkeypatch.setattr(redrawing.Redrawing, "__call__", failing)
    release = desk.release(desk.plan(held, PAIRS, mechanism="laplace", budget=HALF, measure=0, copies=5))
    assert release.certificate.copies == len(release.copies()) == 1


def test_copies_keep_the_rules_of_the_schema(desk: Desk) -> None:
    domain = Domain(
        (Integers(name="age", low=0, high=9), Booleans(name="smokes")), ("never: age < 3 and smokes = true",)
    )
    frame = pd.DataFrame({"age": np.arange(1_000) % 10, "smokes": np.arange(1_000) % 10 > 6})
    table = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(2))
    release = desk.release(desk.plan(table, PAIRS, mechanism="laplace", budget=Budget(1), measure=0, copies=2))
    for copy in (*release.copies(), *release.origins()):
        assert not ((copy["age"] < 3) & copy["smokes"]).any()


def coverage(mechanism: str, budget: Budget, releases: int, number: int) -> float:
    """How often intervals hold the truth: the shares of all pairs of values, each with its own interval."""
    generator = np.random.default_rng(3)
    domain = Domain(
        (Integers(name="a", low=0, high=3), Categories(name="b", values=("x", "y", "z")), Booleans(name="c"))
    )
    first = generator.integers(0, 4, 4_000)
    second = (first + generator.integers(0, 3, 4_000)) % 3
    codes = np.stack([first, second, (second > 0) ^ (generator.random(4_000) < 0.2)], axis=1).astype(np.int64)
    table = StandIn(domain, codes, Unit.row())
    built = mechanism_from(mechanism, (Marginals(order=2),), budget, {})
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]

    def shares(rows: np.ndarray) -> np.ndarray:
        own = StandIn(domain, rows, Unit.row())
        return np.concatenate([own.marginal(pair).ravel() for pair in pairs]) / len(rows)

    truth, held = shares(codes), []
    for _ in range(releases):
        model = built.run(Kernel(table, SimulatedNoise(generator), built.cost(domain, table.unit)))
        again = Redrawing(built, table.unit, model, 100_000)
        drawn = [again(generator) for _ in range(number)]
        found = combine(
            shares(model.sample(4_000, generator)),
            [shares(copy.sample(4_000, generator)) for _, copy in drawn],
            [shares(origin) for origin, _ in drawn],
        )
        held.append((found.low <= truth) & (truth <= found.high))
    return float(np.mean(held))


@pytest.mark.exhaustive
def test_intervals_hold_the_truth() -> None:
    """Cells of one release are off together, so the share over 60 releases moves by some per cent."""
    assert 0.9 < coverage("histogram", Budget("0.3"), 60, 10) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["gaussian", "tree", "iterative-weights"])
def test_intervals_of_every_kind_hold_the_truth(mechanism: str) -> None:
    assert 0.85 < coverage(mechanism, Budget("0.3", 1e-9), 10, 6) <= 1
