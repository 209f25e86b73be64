"""How often the truth lies in the interval that is shown: 20,000 questions to each kind of session and release.

Six tables: the demo table, census rows (where `RELEASE_DESK_BENCH_DATA` has them), and four that are made up:
independent columns, dependent ones, almost all rows in one cell, and 1,300 rows. Of each the session sees some columns.
Questions are of all kinds: single cells, conjunctions, random sets of cells, weighted sums, all rows, and what hardly a
row fulfils. Sessions are many and short, because all answers of one share some of their noise. Pure budgets and such
with a delta take turns, and so do units: a row added, a row replaced, persons with three rows.

Sums, averages and quantiles that follow from answers, and the figures that decisions measure, are in
`kit/coverage_numbers.py`.

The metric is the share of intervals that hold the truth, claimed 95 %, in rows and in per cent apart. Questions are
asked in portions; with `RELEASE_DESK_BENCH_PROGRESS` a stopped run goes on after the last of them (`kit/progress.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from core.base.errors import DeskError
from core.kernel.query import Query
from core.kernel.remembered import Remembered
from core.mechanisms.kit.interactive import Interactive, Reply
from core.mechanisms.measured.measuring import ErrorMeasuring
from core.planning.session_offers import proposed
from core.plans.division import divided
from core.plans.release_terms import ReleaseTerms
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.registry import interactive_from
from core.release.published import Published
from core.schema.domain import Booleans, Categories, Domain
from core.sessions.measured_bounds import MeasuredBounds
from core.table.counts import Cells
from core.table.table import Table
from tests.bench.kit import coverage_numbers
from tests.bench.kit.line import Line
from tests.bench.kit.progress import kept
from tests.bench.kit.real_data import adult_folder
from tests.kernels import kernel_for
from tests.kernels import run as run_on

CLAIMED = 0.95
QUESTIONS = 20_000
EACH = 40
"""Questions of one session."""
PORTION = 1_000
"""Questions that are kept together."""
BUDGETS = (Budget(1), Budget(1, "1e-9"), Budget("0.1"), Budget(10))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3))
SESSIONS: dict[str, tuple[str, dict[str, Any], int]] = {
    "online-laplace": ("online-laplace", {"questions": EACH}, QUESTIONS),
    "online-tree": ("online-tree", {"questions": EACH}, QUESTIONS),
    "online-histogram": ("online-histogram", {}, QUESTIONS),
    "online-weights": ("online-weights", {"questions": EACH}, QUESTIONS),
    "online-perceptron": ("online-perceptron", {"questions": EACH}, QUESTIONS),
    "online-median": ("online-median", {"questions": EACH}, QUESTIONS),
    "median-basic": ("median-basic", {"questions": EACH, "members": 500}, QUESTIONS),
    "median-walk": ("median-walk", {"questions": EACH, "chains": 32}, QUESTIONS // 20),
}
"""Each kind of session with its options and how many questions it is asked; the slow ones fewer."""
RELEASES = {"noise on tables": "laplace", "a tree": "tree", "a histogram": "histogram"}
"""Mechanisms whose releases are measured and asked."""


def run() -> Iterator[Line]:
    for name, (_, _, questions) in SESSIONS.items():
        yield from lines(name, in_portions(f"coverage {name}", questions, partial(covered, name)))
    for name in RELEASES:
        yield from lines(
            f"release by {name}", in_portions(f"coverage of {name}", QUESTIONS // 2, partial(released, name))
        )
    yield from coverage_numbers.lines(tables(), QUESTIONS // 4, QUESTIONS // 4)


def in_portions(
    words: str, questions: int, asked: Callable[[int, int], Counter[tuple[str, bool]]]
) -> Counter[tuple[str, bool]]:
    """The tallies of all portions together; each begins with another table, budget and unit."""
    tally: Counter[tuple[str, bool]] = Counter()
    for first in range(0, questions, PORTION):
        part = kept(f"{words} {first}", partial(_listed, partial(asked, min(PORTION, questions - first), first)))
        tally.update({(what, inside): count for what, inside, count in part})
    return tally


def _listed(asked: Callable[[], Counter[tuple[str, bool]]]) -> list[tuple[str, bool, int]]:
    return [(what, bool(inside), count) for (what, inside), count in asked().items()]


def lines(name: str, tally: Counter[tuple[str, bool]]) -> Iterator[Line]:
    for what in sorted({what for what, _ in tally}):
        inside, outside = tally[what, True], tally[what, False]
        words = f"{name} {what} ({inside + outside:,})"
        yield Line("coverage", words, "share_covered", inside / (inside + outside), "claimed", CLAIMED)


def covered(name: str, questions: int | None = None, first: int = 0) -> Counter[tuple[str, bool]]:
    """By what an interval is about ('easy, in rows', ...), how many hold the truth and how many do not.

    `first` is how many questions were asked before.
    """
    mechanism, options, usual = SESSIONS[name]
    tally: Counter[tuple[str, bool]] = Counter()
    asked, turn = 0, first // EACH
    settings = list(product(tables(), BUDGETS, UNITS))
    # What is offered follows from public facts alone, so it is worked out once for each setting.
    offers: dict[int, Interactive | None] = {}
    generator = np.random.default_rng([1, first])
    while asked < (questions or usual):
        place, turn = turn % len(settings), turn + 1
        cells, budget, unit = settings[place]
        counts = Cells(cells.domain, cells.cells, unit)
        if place not in offers:
            offers[place] = offered(mechanism, budget, options, counts)
        session = offers[place]
        if session is not None:
            asked += ask(session, counts, generator, tally)
    return tally


def released(name: str, questions: int, first: int = 0) -> Counter[tuple[str, bool]]:
    """The same for answers of stored releases that were measured; those without an interval do not count."""
    tally: Counter[tuple[str, bool]] = Counter()
    asked, turn, generator = 0, first // EACH, np.random.default_rng([2, first])
    settings = list(product(tables(), BUDGETS, UNITS))
    while asked < questions:
        (cells, budget, unit), turn = settings[turn % len(settings)], turn + 1
        counts = Cells(cells.domain, cells.cells, unit)
        bounds, rows = measured_release(name, counts, budget), int(counts.cells.sum())
        whole = float(bounds.release.marginal(()).sum())
        for question in mixed(counts.domain, EACH, generator):
            error, share = bounds.share(question), question.answer(bounds.release)
            if error is not None:
                truth = float(question.total(counts)) / question.denominator
                reach = bounds.count(share * whole, share, error)
                tally["easy, in per cent", abs(truth / rows - share) <= error + 1e-9] += 1
                tally["easy, in rows", abs(truth - share * whole) <= reach + 1e-6] += 1
            asked += 1
    return tally


def measured_release(name: str, counts: Cells, budget: Budget) -> MeasuredBounds:
    """A release of all pairs and its bounds, five parts in a hundred of its budget spent on measuring."""
    terms = ReleaseTerms(
        queries=(Marginals(order=2),), mechanism=RELEASES[name], budget=budget, measure=Fraction(1, 20)
    )
    mechanism, measuring = divided(terms, counts.domain, counts.unit)
    assert isinstance(measuring, ErrorMeasuring)
    model = run_on(mechanism, counts)
    codes = model.sample(max(1, round(model.total)), np.random.default_rng())
    published = Published.of(counts.domain, model.tables(), codes)
    kernel = kernel_for(measuring, counts)
    stored: Any = SimpleNamespace(
        measured=measuring.run(kernel, published, terms.measure), marginal=published.marginal, domain=counts.domain
    )
    found = MeasuredBounds.of(stored, terms, counts.domain)
    assert found is not None
    return found


def offered(name: str, budget: Budget, options: dict[str, Any], counts: Cells) -> Interactive | None:
    """The session as the desk offers it, laid out for about as many rows as there are; None where it is refused."""
    if name not in ("online-laplace", "online-histogram"):
        options = {**options, "rows": 10 ** round(np.log10(counts.cells.sum()))}
    try:
        made = interactive_from(name, budget, options | proposed(name, budget, options, counts.domain, counts.unit))
        made.check(counts.domain, counts.unit)
    except DeskError:
        return None
    return made


def ask(session: Interactive, counts: Cells, generator: np.random.Generator, tally: Counter[tuple[str, bool]]) -> int:
    kernel, rows = kernel_for(session, Remembered(counts)), int(counts.cells.sum())
    state, asked = session.open(kernel), 0
    for question in mixed(counts.domain, EACH, generator):
        state, reply = session.answer(state, question, kernel)
        asked += 1
        truth = float(question.total(counts)) / question.denominator
        for what, (low, high) in shown(reply).items():
            value = truth if what == "in rows" else truth / rows
            tally[f"{reply.kind}, {what}", low - 1e-9 <= value <= high + 1e-9] += 1
    return asked


def shown(reply: Reply) -> dict[str, tuple[float, float]]:
    """The intervals of an answer."""
    found = {}
    if reply.margin is not None:
        found["in rows"] = (reply.count - reply.margin, reply.count + reply.margin)
    if reply.interval is not None:
        found["in per cent"] = reply.interval
    return found


def mixed(domain: Domain, count: int, generator: np.random.Generator) -> list[Query]:
    """Questions of all kinds, by turns."""
    kinds: list[Callable[[tuple[int, ...]], tuple[np.ndarray, int]]] = [
        lambda shape: (_cell(shape, generator), 1),
        lambda shape: (generator.integers(0, 2, shape), 1),
        lambda shape: (generator.integers(0, 17, shape), 16),
        lambda shape: (1 - _cell(shape, generator), 1),
        lambda shape: (np.ones(shape, dtype=np.int64), 1),
    ]
    found = []
    for place in range(count):
        chosen = np.sort(generator.choice(len(domain), generator.integers(1, min(3, len(domain)) + 1), replace=False))
        columns = tuple(domain.names[at] for at in chosen)
        weights, denominator = kinds[place % len(kinds)](domain.shape(columns))
        found.append(Query(columns=columns, weights=weights, denominator=denominator))
    return found


def _cell(shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    weights = np.zeros(shape, dtype=np.int64)
    weights[tuple(generator.integers(0, size) for size in shape)] = 1
    return weights


@cache
def tables() -> tuple[Cells, ...]:
    """Six tables of up to 200 combinations; five where there are no census rows."""
    return (*_demo(), *_census(), *_generated())


def _demo() -> Iterator[Cells]:
    folder = Path(__file__).resolve().parents[2] / "data"
    domain = Domain.from_json((folder / "clinic_visits.schema.json").read_text(encoding="utf-8"))
    table = Table.load(folder / "clinic_visits.csv", domain, Unit.row(), Noise())
    chosen = domain.project(("region", "sex", "smoker", "diabetes"))
    yield Cells(chosen, table.marginal(chosen.names))


def _census() -> Iterator[Cells]:
    folder = adult_folder()
    if folder is not None:
        codes = np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)
        yield _counted((codes >= np.maximum(1, np.median(codes, axis=0)))[:, :6].astype(np.int64))


def _generated() -> Iterator[Cells]:
    generator = np.random.default_rng(5)
    even = generator.integers(0, 2, (20_000, 6))
    yield _counted(even)
    yield _counted(np.where(generator.random((20_000, 6)) < 0.1, even, even[:, :1]))
    yield _counted((generator.random((200_000, 6)) < 0.002).astype(np.int64))
    yield _counted(np.minimum(generator.geometric(0.6, (1_300, 3)) - 1, 3), values=4)


def _counted(codes: np.ndarray, values: int = 2) -> Cells:
    names = [f"c{place}" for place in range(codes.shape[1])]
    columns = [
        Booleans(name=name) if values == 2 else Categories(name=name, values=tuple(range(values))) for name in names
    ]
    domain = Domain(tuple(columns))
    places = np.ravel_multi_index(tuple(codes.T), domain.shape())
    return Cells(domain, np.bincount(places, minlength=domain.cells()))
