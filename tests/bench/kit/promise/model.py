"""Record runs on stand-ins of many schemas and fit the planner's model of errors and seconds.

`python -m tests.bench.kit.promise.model FILE SECONDS [NAME ...]` adds recordings of so many CPU seconds for each
mechanism (or those named); `... FILE` fits what is recorded and writes it to `fitted.json`, where mechanisms without
recordings stay as they are: for each mechanism, ridge regressions of the logarithms of mean error, of largest error,
of the seconds of a run and of a whole trial, on public facts (`fitted.py`). Times are what a mechanism says of itself,
which counts its steps and so holds for sizes that were not recorded, unless a regression does better. Every second run
is kept aside first: how often the model is within a factor of two of those is printed.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from core.base.arrays import Floats
from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.planning.simulation.fitted import FILE, features
from core.planning.simulation.stand_ins import StandIns
from core.planning.simulation.trial import make_trial
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.registry import mechanism_from, offline, query_from_json, query_to_json
from core.schema.domain import Booleans, Categories, Domain, Integers

LONGEST = 10
"""CPU seconds of one recorded trial; a longer one is recorded as taking twice as long, without an error."""
MOST_RUNS = 250
RIDGES = (0.3, 1.0, 3.0, 10.0, 30.0)
TARGETS = ("mean", "worst", "seconds", "cost")
TIMES = ("seconds", "cost")
BRIEF = 0.05
"""Seconds; where some runs take longer, it does not matter by what factor less is missed."""
FEWEST = 100
"""Recorded runs that errors need to be fitted anew; with fewer they stay as they are."""
OWN_SECONDS = 11
"""The feature that is the logarithm of the seconds which a mechanism says it takes."""


SMALL = 8
"""Values of the columns that are also asked for in threes."""
FEW_VALUES = 0.3
"""The part of the schemas whose columns all have two to four values."""


class TooLong(Exception):
    """A trial that was stopped."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def schema(generator: np.random.Generator) -> Domain:
    """One to 35 columns of two to 100 cells, or up to three of as many as 400, or up to 20 of two to four.

    The last are there for mechanisms that hold the whole universe: they are slow on many small columns, not on few
    large ones.
    """
    few = generator.random() < FEW_VALUES
    columns = int(generator.integers(6, 21)) if few else int(np.exp(generator.uniform(0, np.log(36))))
    most = 4 if few else 100 if columns > 3 else 400
    made: list[Any] = []
    for place in range(columns):
        name, size = f"c{place}", int(np.exp(generator.uniform(np.log(2), np.log(most))))
        kind = generator.random()
        if kind < 0.2:
            made.append(Booleans(name=name))
        elif kind < 0.55:
            made.append(Categories(name=name, values=tuple(f"v{value}" for value in range(size))))
        else:
            made.append(Integers(name=name, low=0, high=size - 1))
    return Domain(tuple(made))


def questions(domain: Domain, generator: np.random.Generator) -> tuple[QueryClass, ...]:
    """One class that fits, sometimes two."""
    names = list(domain.names)
    ordered = [each.name for each in domain if each.ordered and each.size > 2]
    binary = [each.name for each in domain if each.size == 2]
    some = tuple(generator.permutation(names)[: int(generator.integers(1, min(6, len(names)) + 1))])
    found: list[QueryClass] = [Marginals(order=1), Marginals(order=min(2, len(some)), columns=some)]
    found.append(Marginals(order=min(2, len(names))))
    if len(names) > 2 and max(each.size for each in domain) <= SMALL:
        found.append(Marginals(order=3))
    if ordered:
        found += [
            Intervals(column=str(generator.choice(ordered))),
            Unions(column=str(generator.choice(ordered)), parts=2),
        ]
    if len(ordered) > 1:
        pair = tuple(generator.permutation(ordered)[:2])
        found += [Rectangles(columns=pair), Halfspaces(columns=pair, directions=int(generator.choice([16, 64])))]
    if binary:
        chosen = tuple(binary[:6])
        found += [Conjunctions(columns=chosen, order=min(2, len(chosen))), Parities(columns=chosen)]
    picked = generator.permutation(len(found))[: 2 if generator.random() < 0.25 else 1]
    return tuple(found[place] for place in picked)


def record(name: str, seconds: float, generator: np.random.Generator) -> list[dict[str, Any]]:
    """Runs of one mechanism, as many as the time allows: the public facts of each, and what was seen."""
    found: list[dict[str, Any]] = []
    end = time.process_time() + seconds
    while time.process_time() < end and len(found) < MOST_RUNS:
        domain = schema(generator)
        budget = Budget(float(np.exp(generator.uniform(np.log(0.05), np.log(20)))), float(generator.choice([0, 1e-9])))
        unit = [Unit.row(), Unit.row("replace"), Unit.id("id", 3)][int(generator.choice(3, p=[0.7, 0.1, 0.2]))]
        rows = int(np.exp(generator.uniform(np.log(500), np.log(10**6))))
        try:
            asked = questions(domain, generator)
            domain = asked_columns(asked, domain)
            made = mechanism_from(name, asked, budget, {})
            made.check(domain, unit)
            seen = tried(made, StandIns.of(domain, unit, rows), int(generator.integers(6)))
        except DeskError:
            continue
        found.append(
            {
                "name": name,
                "queries": [query_to_json(query) for query in asked],
                "budget": budget.to_json(),
                "domain": domain.to_json(),
                "unit": unit.to_json(),
                "rows": rows,
                **seen,
            }
        )
    return found


def tried(made: Mechanism, stand_ins: StandIns, place: int) -> dict[str, Any]:
    """One trial; one that was stopped has seconds and no errors."""
    start = time.process_time()
    try:
        with within(LONGEST):
            trial = make_trial(made, stand_ins, place)
    except TooLong:
        return {"mean": None, "worst": None, "seconds": 2.0 * LONGEST, "cost": 2.0 * LONGEST}
    return asdict(trial) | {"cost": time.process_time() - start}


def facts_of(line: dict[str, Any]) -> list[float]:
    """The features of a recorded run."""
    queries = [query_from_json(query) for query in line["queries"]]
    made = mechanism_from(line["name"], queries, Budget.from_json(line["budget"]), {})
    domain, unit = Domain.from_json(line["domain"]), Unit.from_json(line["unit"])
    return [float(value) for value in features(made, domain, unit, line["rows"])]


def fit(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Ridge regressions of logarithms, shrunk as much as predicts each run best from the others.

    A spread is that of such predictions: what fits its own runs says nothing of the next one. A time is what the
    mechanism says of itself, times a constant, unless a regression predicts runs that take a while better than that.
    """
    fits: dict[str, Any] = {}
    for target in TARGETS:
        known = [line for line in lines if line[target] is not None]
        if not known:
            continue
        facts = np.array([line["features"] for line in known])
        logs = np.log(np.maximum([line[target] for line in known], 1e-3 if target in TIMES else 0.05))
        solved, missed = min((ridge(facts, logs, shrink) for shrink in RIDGES), key=lambda found: rms(found[1]))
        if target in TIMES:
            long = logs >= np.log(BRIEF) if logs.max() >= np.log(BRIEF) else np.ones(len(logs), dtype=bool)
            told = logs - facts[:, OWN_SECONDS]
            constant = float(np.median(told[long]))
            if rms(told[long] - constant) <= rms(missed[long]):
                solved = np.zeros(facts.shape[1])
                solved[0], solved[OWN_SECONDS] = constant, 1.0
        else:
            fits[f"{target}_spread"] = float(f"{rms(missed):.3g}")
        fits[target] = [float(f"{value:.4g}") for value in solved]
    return fits


def ridge(facts: Floats, logs: Floats, shrink: float) -> tuple[Floats, Floats]:
    """Coefficients around the means, and how far each run is from what the others predict (leave-one-out, exactly)."""
    middle, level = facts.mean(axis=0), float(logs.mean())
    # The first feature is 1; what the others add to the mean is all that is shrunk.
    moved = facts - middle
    inverse = np.linalg.inv(moved.T @ moved + shrink * np.eye(facts.shape[1]))
    solved = inverse @ moved.T @ (logs - level)
    leverage = np.einsum("ij,jk,ik->i", moved, inverse, moved) + 1 / len(logs)
    missed = (logs - level - moved @ solved) / np.maximum(1 - leverage, 0.02)
    solved[0] = level - float(middle[1:] @ solved[1:])
    return solved, missed


def rms(missed: Floats) -> float:
    return float(np.sqrt(np.mean(missed**2)))


def off(fits: dict[str, Any], lines: list[dict[str, Any]], target: str) -> float:
    """The share of lines that the model is within a factor of two of."""
    known = [line for line in lines if line[target] is not None]
    said = [float(np.array(line["features"]) @ np.array(fits[target])) for line in known]
    logs = [np.log(max(line[target], 1e-3)) for line in known]
    return float(np.mean(np.abs(np.array(said) - logs) <= np.log(2))) if known else float("nan")


def main(file: Path, seconds: float | None, names: Sequence[str]) -> None:
    if seconds is not None:
        generator = np.random.default_rng()
        for name in names:
            lines = record(name, seconds, generator)
            with file.open("a", encoding="utf-8") as written:
                written.writelines(f"{json.dumps(line)}\n" for line in lines)
        return
    recorded: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for text in file.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        recorded[line["name"]].append(line | {"features": facts_of(line)})
    fitted: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name, lines in recorded.items():
        first = fit(lines[::2])
        held = {target: round(off(first, lines[1::2], target), 2) for target in TARGETS}
        print(json.dumps({"mechanism": name, "runs": len(lines), "held_out_within_2x": held}), flush=True)
        kept = fitted.get(name, {}) if len(lines) < FEWEST else {}
        fitted[name] = fit(lines) | {key: found for key, found in kept.items() if key not in TIMES}
    FILE.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else None, sys.argv[3:] or tuple(offline))
