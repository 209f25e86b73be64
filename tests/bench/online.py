"""Questions answered one at a time: a flood of conjunctions on census data, and how long an answer takes.

Every column of the census table becomes a yes/no column: whether its code is at least its median (and at least 1).
Questions are random conjunctions of one to three of them, each with random values; errors are shares of all rows. The
recorded figures are those of 30,162 rows, so the lines beside them take the first 30,162 rows; the flood takes all.
Neighbours add or remove one row, nothing else is known, delta is 1e-9.

Three kinds of session that learn: 'PMW' measures the question that was found hard and learns from it once; 'PMW +
replay' is the same with all past measurements applied again each time, and nothing else changed; 'session' is
`online-weights` as it is offered, which also measures the whole table of a hard question and opens with one-column
tables. Each has its own target error: the best mean of six, in three runs each, on another set of questions about the
same table. The shares of the budget were chosen on the same table too.

Latency is CPU time per answer, private counts at hand, easy and hard answers apart, before any padding.

Sessions on tables of any size are in `kit/online_any.py`; `RELEASE_DESK_BENCH_ONLINE` names some of its cases, with
commas between, to run only those, and `RELEASE_DESK_BENCH_QUESTIONS` the number of questions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.kernel.query import Query
from core.kernel.remembered import Remembered
from core.mechanisms.kit.interactive import Interactive
from core.mechanisms.online.online_histogram import OnlineHistogram
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.mechanisms.online.online_weights import OnlineWeights
from core.privacy.budget import Budget
from core.schema.domain import Booleans, Categories, Domain
from core.table.counts import Cells
from tests.bench.kit import online_any
from tests.bench.kit.line import Line
from tests.bench.kit.real_data import adult_folder, data_folder
from tests.kernels import kernel_for

CASES_ONLY, QUESTIONS = "RELEASE_DESK_BENCH_ONLINE", "RELEASE_DESK_BENCH_QUESTIONS"
"""Environment variables: the cases of `kit/online_any.py` to run alone, and their number of questions."""
DELTA, RUNS, FLOOD = 1e-9, 5, 100_000
TARGETS = {"mean_error": 0.002, "max_error": 0.01}
REPLAY_TARGET = 2.5
LATENCY = {5: 5.0, 6: 40.0}
"""Columns of ten values each, and the milliseconds that an answer may take."""


@dataclass(frozen=True)
class Case:
    columns: int
    questions: int
    epsilon: float
    alphas: tuple[float, float, float]
    """Target errors of the session, of PMW with replays and of PMW."""
    recorded: dict[str, tuple[float, float]]
    """Mean and largest error of each peer."""

    def __str__(self) -> str:
        return f"adult 2^{self.columns} eps={self.epsilon:g} questions={self.questions:,}"


CASES = (
    Case(
        10,
        5_000,
        1,
        (0.03, 0.04, 0.05),
        {
            "laplace each": (0.116, 0.99),
            "gaussian each, delta 1e-6": (0.0077, 0.039),
            "noisy histogram": (0.0004, 0.0014),
            "PMW": (0.0225, 0.122),
            "PMW + replay": (0.0061, 0.035),
        },
    ),
    Case(
        10,
        5_000,
        0.1,
        (0.1, 0.2, 0.2),
        {
            "laplace each": (0.395, 1.0),
            "gaussian each, delta 1e-6": (0.056, 0.33),
            "noisy histogram": (0.0038, 0.0145),
            "PMW": (0.053, 0.34),
            "PMW + replay": (0.024, 0.157),
        },
    ),
    Case(
        14,
        1_500,
        1,
        (0.03, 0.04, 0.05),
        {
            "laplace each": (0.042, 0.39),
            "gaussian each, delta 1e-6": (0.0041, 0.017),
            "noisy histogram": (0.0017, 0.0062),
            "PMW": (0.0287, 0.146),
            "PMW + replay": (0.0088, 0.073),
        },
    ),
)


@dataclass(frozen=True, kw_only=True)
class SingleQuestions(OnlineWeights):
    """Measures the hard question itself, never its table."""

    _tables: ClassVar[bool] = False


def run() -> Iterator[Line]:
    folder = data_folder()
    listed = online_any.cases(folder, int(os.environ.get(QUESTIONS, "10000")))
    if chosen := os.environ.get(CASES_ONLY):
        for name in chosen.split(","):
            yield from listed[name.strip()]()
        return
    yield from _latencies()
    yield from listed.pop("survey 35")()
    if adult_folder() is None:
        return
    codes = np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)
    for case_lines in listed.values():
        yield from case_lines()
    yield from _flood(_table(codes, 14))
    for case in CASES:
        yield from _beside(case, _table(codes[:30_162], case.columns))


def _flood(table: Cells) -> Iterator[Line]:
    asked = questions(table.domain, FLOOD, seed=0)
    start = time.process_time()
    found = np.array([errors(OnlineHistogram(budget=Budget(1, DELTA)), table, asked) for _ in range(RUNS)])
    seconds = (time.process_time() - start) / RUNS
    words = f"adult 2^14 eps=1 questions={FLOOD:,} online-histogram"
    yield Line("online", words, "mean_error", float(found[:, 0].mean()), "target", TARGETS["mean_error"])
    yield Line("online", words, "max_error", float(found[:, 1].mean()), "target", TARGETS["max_error"])
    largest, worst = float(found[:, 1].max()), f"{words}, worst of {RUNS} runs"
    yield Line("online", worst, "max_error", largest, "target", TARGETS["max_error"])
    yield Line("online", words, "cpu_s", seconds)


def _beside(case: Case, table: Cells) -> Iterator[Line]:
    budget, rows = Budget(case.epsilon, DELTA), 30_000
    asked = questions(table.domain, case.questions, seed=1)
    learning, replaying, plain = case.alphas
    planned: dict[str, Any] = {"budget": budget, "rows": rows, "questions": case.questions}
    sessions: dict[str, tuple[Interactive, str]] = {
        "fresh noise": (OnlineLaplace(budget=budget, questions=case.questions), "gaussian each, delta 1e-6"),
        "online-histogram": (OnlineHistogram(budget=budget), "noisy histogram"),
        "online-histogram pure": (OnlineHistogram(budget=Budget(case.epsilon)), "noisy histogram"),
        "session": (OnlineWeights(**planned, alpha=learning), "PMW + replay"),
        "PMW + replay": (SingleQuestions(**planned, alpha=replaying, opening=0.0), "PMW + replay"),
        "PMW": (SingleQuestions(**planned, alpha=plain, opening=0.0, replay=0), "PMW"),
    }
    means = {}
    for words, (session, peer) in sessions.items():
        found = [errors(session, table, asked) for _ in range(RUNS)]
        means[words], largest = np.mean(found, axis=0)
        theirs = case.recorded[peer]
        yield Line("online", f"{case} {words}", "mean_error", means[words], peer, theirs[0], "recorded")
        yield Line("online", f"{case} {words}", "max_error", largest, peer, theirs[1], "recorded")
    for words in ("PMW + replay", "session"):
        gain = means["PMW"] / means[words]
        yield Line("online", f"{case} PMW / {words}", "mean_error_ratio", gain, "target", REPLAY_TARGET)


def _latencies() -> Iterator[Line]:
    for columns, limit in LATENCY.items():
        spent = latencies(columns)
        for kind, each in spent.items():
            words = f"10^{columns} cells, {kind} ({len(each):,} of {sum(map(len, spent.values())):,})"
            yield Line("online", words, "median_ms", float(np.median(each)) * 1e3, "target", limit)


def latencies(columns: int) -> dict[str, list[float]]:
    """CPU seconds of every answer of a session on correlated rows, by its kind."""
    domain = Domain(tuple(Categories(name=f"c{place}", values=tuple(range(10))) for place in range(columns)))
    generator = np.random.default_rng(2)
    base = generator.integers(0, 10, (50_000, 1))
    codes = (base + generator.integers(0, 4, (50_000, columns))) % 10
    cells = np.bincount(np.ravel_multi_index(tuple(codes.T), domain.shape()), minlength=domain.cells())
    counts = Remembered(Cells(domain, cells))
    session = OnlineWeights(budget=Budget(1, DELTA), rows=50_000, alpha=0.02)
    kernel = kernel_for(session, counts)
    state = session.open(kernel)
    spent: dict[str, list[float]] = {"easy": [], "hard": []}
    for question in questions(domain, 400, seed=3):
        counts.marginal(question.columns)
        start = time.process_time()
        state, reply = session.answer(state, question, kernel)
        seconds = time.process_time() - start
        if reply.kind in spent:
            spent[reply.kind].append(seconds)
    return spent


def errors(session: Interactive, table: Cells, asked: list[Query]) -> tuple[float, float]:
    """Mean and largest error of one session, as shares of all rows."""
    counts = Remembered(table)
    kernel, rows, off = kernel_for(session, counts), float(table.cells.sum()), []
    state = session.open(kernel)
    for question in asked:
        state, reply = session.answer(state, question, kernel)
        off.append(abs(reply.share - float(question.total(counts)) / (question.denominator * rows)))
    return float(np.mean(off)), max(off)


def questions(domain: Domain, count: int, seed: int) -> list[Query]:
    """Random conjunctions of one to three columns."""
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        chosen = np.sort(generator.choice(len(domain), generator.integers(1, 4), replace=False))
        columns = tuple(domain.names[place] for place in chosen)
        weights = np.zeros(domain.shape(columns), dtype=np.int64)
        weights[tuple(generator.integers(0, size) for size in weights.shape)] = 1
        made.append(Query(columns=columns, weights=weights))
    return made


def _table(codes: np.ndarray, columns: int) -> Cells:
    """The first columns as yes/no."""
    facts = (codes >= np.maximum(1, np.median(codes, axis=0)))[:, :columns]
    domain = Domain(tuple(Booleans(name=f"c{place}") for place in range(columns)))
    places = np.ravel_multi_index(tuple(facts.T.astype(np.int64)), domain.shape())
    return Cells(domain, np.bincount(places, minlength=domain.cells()))
