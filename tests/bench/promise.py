"""What is told before spending beside what comes true, on tables of very different kinds (`kit/promise/tables.py`,
`kit/promise/held_out.py`, `kit/promise/histograms.py`).

For each table, epsilon and set of query classes every mechanism that can serve is planned as the desk plans it, from
public facts and a number of rows that somebody guessed, and then run on the table. Noise has the kernel's laws and the
same seeds for all mechanisms, so that two that do the same have the same errors, and the figures are the same next
time. Lines tell the seen mean error and the shown one; at the end, apart for tables that were looked at when planning
was made, for those that were not, and for real histograms with most rows in few cells:

* `share_within_2x`: of the cells whose seen mean error is between half and twice the shown one;
* `share_in_band`: of the cells whose seen mean error lies in the band that is shown for nine tables of ten;
* `share_worst_within_2x`: the same for 'all within', beside the largest error of a run;
* `share_exceeded`: of the runs in which 'all within, 95 % of the time' was exceeded;
* `share_best_first`: of the cells in which the mechanism offered first has at most 1.15 times the error of the best;
* `share_wish_met`: of the runs at a budget found for an accuracy that were that exact;
* `share_within_2x_after_release`: of the tables whose pairs had been released at epsilon 0.1 before, so that those
  records stood in: the figure for epsilon 1 is within a factor of two of what is seen;
* `share_studied_not_better`: of the cells in which the mechanism for study whose turn it is does not beat the best by
  more than that factor, so that it rightly stands apart;
* `share_seconds_within_2x`: of the mechanisms that take a tenth of a second or more: the time that was told.

All mechanisms are planned; of those for study one in each cell is run, by turns. Lines come cell by cell; all of it
takes about 40 CPU minutes. `RELEASE_DESK_BENCH_TABLES` names tables, `RELEASE_DESK_BENCH_EPSILONS` epsilons (by commas)
if not all are wanted; `RELEASE_DESK_BENCH_PROGRESS` a file that lets a stopped run go on (`kit/progress.py`).
"""

from __future__ import annotations

import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

from core.base.errors import DeskError
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Mechanism
from core.planning.better_noise import build
from core.planning.budget_for import budget_for
from core.planning.recommendation import rank
from core.planning.rehearsal import rehearse
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.fitted import modelled
from core.planning.simulation.kept_trials import Figures
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.registry import offline
from core.table.stand_in import StandIn
from tests.bench.kit.line import Line
from tests.bench.kit.progress import kept
from tests.bench.kit.promise.held_out import FAMILIES, drawn_table
from tests.bench.kit.promise.histograms import HISTOGRAMS, histogram_table
from tests.bench.kit.promise.questions import guessed_rows, question_sets
from tests.bench.kit.promise.tables import TABLES

CHOSEN, EPSILONS = "RELEASE_DESK_BENCH_TABLES", "RELEASE_DESK_BENCH_EPSILONS"
DELTA = 1e-9
RUNS, SECONDS = 12, 0.3
"""Runs of a mechanism in a cell, and the CPU seconds after which no further one starts."""
LONGEST, LONGEST_STUDIED = 8.0, 2.0
"""Seconds of one trial by the model; mechanisms that take longer are planned and not run."""
CLOSE, CLOSE_RUNS, CLOSE_SECONDS = 1.4, 12, 0.6
"""Mechanisms within this factor of the best are run more often, where that is quick, to tell which is the best."""
ENOUGH = 1.15
EXACT = 0.1
"""Rows; mean errors below are exact for everybody, and taken for this."""
SEED = 7
BRIEF = 0.1
"""Seconds; nobody minds by what factor less than this is missed."""
WISHED = 1.0
"""Seconds of one trial by the model; a budget for an accuracy takes many, and is not sought where one takes longer."""
EARLIER = 0.1
"""Epsilon of the earlier release."""


@dataclass
class Tally:
    """What was seen on some tables."""

    means: list[float] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)
    worsts: list[float] = field(default_factory=list)
    exceeded: list[bool] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    wishes: list[bool] = field(default_factory=list)
    released: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    studied: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """What was seen elsewhere, too."""
        for each in fields(self):
            getattr(self, each.name).extend(getattr(other, each.name))


def run() -> Iterator[Line]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    held_out = {name: partial(drawn_table, name) for name in FAMILIES}
    histograms = {name: partial(histogram_table, name) for name in HISTOGRAMS}
    makers = {**TABLES, **held_out, **histograms}
    chosen = os.environ.get(CHOSEN, ",".join(makers)).split(",")
    epsilons = [float(each) for each in os.environ.get(EPSILONS, "0.1,1,10").split(",")]
    for place, name in enumerate(makers):
        table = makers[name]() if name in chosen else None
        if table is None:
            continue
        tally = tallies["tuned" if name in TABLES else "held out" if name in held_out else "histograms"]
        start = time.process_time()
        for step, epsilon in enumerate(epsilons):
            for words, asked in question_sets(table.domain, 3 * place + step).items():
                case = f"{name} eps={epsilon:g} {words}"
                part = kept(case, partial(finished, case, table, asked, Budget(epsilon, DELTA)))
                yield from (Line(**each) for each in part["lines"])
                tally.add(Tally(**part["tally"]))
        yield Line("promise", name, "cpu_s", time.process_time() - start)
    for words, tally in tallies.items():
        yield from summary(words, tally)


def summary(words: str, tally: Tally) -> Iterator[Line]:
    within = [0.5 <= ratio <= 2 for ratio in tally.means]
    yield Line("promise", words, "cells", len(within))
    yield Line("promise", words, "share_within_2x", share(within), "target", 0.9)
    yield Line("promise", words, "share_in_band", share(tally.inside), "target", 0.9)
    after = [0.5 <= ratio <= 2 for ratio in tally.released]
    yield Line("promise", words, "share_within_2x_after_release", share(after), "target", 0.9)
    yield Line("promise", words, "share_seconds_within_2x", share([0.5 <= ratio <= 2 for ratio in tally.times]))
    yield Line("promise", words, "median_seen_over_shown", float(np.median(tally.means)))
    yield Line("promise", words, "share_worst_within_2x", share([0.5 <= ratio <= 2 for ratio in tally.worsts]))
    yield Line("promise", words, "share_exceeded", share(tally.exceeded), "target", 0.05)
    yield Line("promise", words, "share_best_first", share([each <= ENOUGH for each in tally.first]), "target", 0.9)
    apart = [each * ENOUGH >= 1 for each in tally.studied]
    yield Line("promise", words, "share_studied_not_better", share(apart), "target", 1.0)
    yield Line("promise", words, "share_wish_met", share(tally.wishes), "target", 0.9)


def share(found: list[bool]) -> float:
    return float(np.mean(found)) if found else float("nan")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run: its errors in rows, and what it took."""

    mean: float
    worst: float
    seconds: float


def finished(case: str, table: StandIn, asked: tuple[QueryClass, ...], budget: Budget) -> dict[str, Any]:
    """A cell as it is kept: its lines and its own tally."""
    tally = Tally()
    lines = list(cell(case, table, asked, budget, tally))
    return {"lines": [asdict(line) for line in lines], "tally": asdict(tally)}


def cell(case: str, table: StandIn, asked: tuple[QueryClass, ...], budget: Budget, tally: Tally) -> Iterator[Line]:
    """Everything about one table, one budget and one set of classes."""
    domain = asked_columns(asked, table.domain)
    focused = StandIn(domain, table.codes[:, [table.domain.names.index(name) for name in domain.names]], table.unit)
    candidates = able(asked, budget, focused)
    run = in_turn(candidates, zlib.crc32(case.encode()))
    stand_ins, figures = StandIns.of(domain, table.unit, guessed_rows(len(table.codes))), Figures()
    start = time.process_time()
    ranking = rank(candidates, stand_ins, figures)
    yield Line("promise", case, "planning_cpu_s", time.process_time() - start)
    seen: dict[str, list[Seen]] = {}
    for each in (*ranking.offered, *ranking.studied):
        longest = LONGEST_STUDIED if each in ranking.studied else LONGEST
        if each.name in run and modelled(candidates[each.name], stand_ins).cost <= longest:
            seen[each.name] = runs_of(candidates[each.name], focused, RUNS, SECONDS)
    yield from ranked(case, [each.name for each in ranking.offered], candidates, focused, seen, tally)
    for each in (*ranking.offered, *ranking.studied):
        if each.name in seen:
            yield from compared(f"{case}: {each.name} ({each.figure.how})", each.figure, seen[each.name], tally)
    best = min((mean_of(seen[each.name]) for each in ranking.offered if each.name in seen), default=0.0)
    tally.studied += [mean_of(seen[each.name]) / best for each in ranking.studied if each.name in seen and best]
    first = ranking.offered[0]
    if asked != (Marginals(order=2),):
        yield from wish(case, asked, focused, first.name, first.figure.worst, stand_ins, tally)
    elif budget.epsilon == 1 and first.name in seen:
        yield from after_release(case, candidates[first.name], focused, mean_of(seen[first.name]), tally)


def able(asked: tuple[QueryClass, ...], budget: Budget, table: StandIn) -> dict[str, Mechanism]:
    """The mechanisms that can serve, with their usual options."""
    found: dict[str, Mechanism] = {}
    for name in offline:
        try:
            found[name] = build(name, asked, budget, {}, table.domain, table.unit)
        except DeskError:
            continue
    return found


def in_turn(candidates: dict[str, Mechanism], turn: int) -> set[str]:
    """All that compete, and one of those that are there to be studied."""
    studied = [name for name, each in candidates.items() if each.for_study]
    chosen = {studied[turn % len(studied)]} if studied else set()
    return chosen | {name for name, each in candidates.items() if not each.for_study}


def ranked(
    case: str,
    offered: list[str],
    candidates: dict[str, Mechanism],
    table: StandIn,
    seen: dict[str, list[Seen]],
    tally: Tally,
) -> Iterator[Line]:
    """How the one that is offered first stands beside the best; those that are close run more often for it."""
    tried = [name for name in offered if name in seen]
    if not tried:
        return
    least = min(mean_of(seen[name]) for name in tried)
    for name in tried:
        if mean_of(seen[name]) <= CLOSE * least:
            made = len(seen[name])
            seen[name] += runs_of(candidates[name], table, CLOSE_RUNS - made, CLOSE_SECONDS, made)
    best = min(tried, key=lambda name: mean_of(seen[name]))
    # One that takes too long to be run here cannot be judged, so what is judged is the first that can.
    times = mean_of(seen[tried[0]]) / mean_of(seen[best])
    tally.first.append(times)
    yield Line("promise", f"{case}: {tried[0]} first, {best} best", "times_the_best", times)


def compared(case: str, shown: Figure, seen: list[Seen], tally: Tally) -> Iterator[Line]:
    """What was shown of one mechanism beside what was seen."""
    largest = [each.worst for each in seen]
    tally.means.append(mean_of(seen) / max(shown.mean, EXACT))
    tally.inside.append(bool(shown.low <= mean_of(seen) <= max(shown.high, EXACT)))
    tally.worsts.append(float(np.mean(largest)) / max(shown.worst, 1e-9))
    tally.exceeded += [bool(worst > shown.worst + 0.5) for worst in largest]
    took = float(np.median([each.seconds for each in seen]))
    if max(took, shown.seconds) >= BRIEF:
        tally.times.append(took / shown.seconds)
    yield Line("promise", case, "mean_error", mean_of(seen), "shown", shown.mean)
    yield Line("promise", case, "max_error", float(np.mean(largest)), "shown", shown.worst)
    yield Line("promise", case, "seconds", took, "shown", shown.seconds)


def wish(
    case: str,
    asked: tuple[QueryClass, ...],
    table: StandIn,
    name: str,
    within: float,
    stand_ins: StandIns,
    tally: Tally,
) -> Iterator[Line]:
    """Half the error that was shown, asked for as an accuracy: how many runs at the budget found are that exact?"""
    if modelled(build(name, asked, Budget(1, DELTA), {}, table.domain, table.unit), stand_ins).cost > WISHED:
        return
    try:
        found = budget_for(name, asked, {}, stand_ins, Figures(), within=within / 2, delta=DELTA)
    except DeskError:
        return
    made = build(name, asked, found, {}, table.domain, table.unit)
    met = [bool(each.worst <= within / 2) for each in runs_of(made, table, RUNS, SECONDS)]
    tally.wishes += met
    yield Line("promise", f"{case}: {name} wish eps={float(found.epsilon):g}", "share_wish_met", share(met))


def after_release(case: str, made: Mechanism, table: StandIn, seen: float, tally: Tally) -> Iterator[Line]:
    """The same figure where the records of an earlier release stand in, as the desk has it from the second on."""
    tree = build("tree", made.queries, Budget(EARLIER, DELTA), {}, table.domain, table.unit)
    generator = np.random.default_rng(SEED)
    released = tree.run(Kernel(table, SimulatedNoise(generator), tree.cost(table.domain, table.unit)))
    rows = max(1, round(released.total))
    records = StandIn(table.domain, released.sample(rows, generator), table.unit)
    public = StandIns.from_samples(table.domain, table.unit, rows, [records], "records of an earlier release")
    shown = Figures().quick(made, public).mean
    tally.released.append(seen / max(shown, EXACT))
    yield Line("promise", f"{case}: {made.name} after a release", "mean_error", seen, "shown", shown)


def runs_of(mechanism: Mechanism, table: StandIn, runs: int, seconds: float, first: int = 0) -> list[Seen]:
    """Runs, until there are enough or they took too long; one at least, unless none is wanted."""
    found: list[Seen] = []
    end = time.process_time() + seconds
    while len(found) < runs and (not found or time.process_time() < end):
        generator = np.random.default_rng([SEED, first + len(found)])
        made = rehearse(mechanism, table, SimulatedNoise(generator), generator=generator)
        mean = sum(score.mean for score in made.scores) / len(made.scores)
        worst = max(score.largest for score in made.scores)
        found.append(Seen(mean=made.rows * mean, worst=made.rows * worst, seconds=made.seconds))
    return found


def mean_of(found: list[Seen]) -> float:
    """At least what is exact for everybody."""
    return max(float(np.mean([each.mean for each in found])), EXACT)
