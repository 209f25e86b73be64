"""A session that starts from a synthetic table of the tree mechanism, and learns where that is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Columns
from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter, printable
from core.base.limits import names as named_columns
from core.base.options import fixed, option
from core.base.wording import amount
from core.kernel.disjoint import DisjointQueries
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.query import Query, Single
from core.kernel.tables import Marginal
from core.mechanisms.kit.answers import NoisyAnswer, ask
from core.mechanisms.kit.interactive import Reply, ReplyKind
from core.mechanisms.kit.intervals import MISS, Reach
from core.mechanisms.kit.portions import mixed_share_of
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.spending import Spending
from core.mechanisms.online.around import LARGEST, measure_groups, table_around
from core.mechanisms.online.column_bounds import reach_by_columns
from core.mechanisms.online.online import MOST_PLANNED, Online, check_question
from core.mechanisms.online.plan import NUMBERS_SHARE, PURE_NUMBERS_SHARE, OnlinePlan, Shares, lay_out
from core.mechanisms.online.reading import easy_reach, read_measured
from core.mechanisms.online.state import OnlineState
from core.mechanisms.online.themes import Themes, shrunk_table
from core.mechanisms.tree.budget import COUNT, foreseen
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.tree import synthesise
from core.mechanisms.tree.workload import MOST_SCORED, MOST_TABLE, Workload
from core.models import tables as limits
from core.models.fitting.updates import Update, Weights
from core.models.tables import Tables
from core.privacy.events import Gaussian
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.queries.marginals import Marginals
from core.schema.domain import Domain

RECORDS = 90_000
"""Records of the hypothesis. Measured on a generated survey (35 columns, 170,000 rows, epsilon 1, two runs each): with
50,000, 100,000, 150,000 and 200,000 the mean error is .00091, .00076, .00073 and .00071, and opening took 6, 8, 11 and
13 s of CPU, before tables shared passes over the records. On generated tables of 12 and 14 columns with up to 60,000
rows the number made no difference."""
WIDE = 24
"""Ordered columns with more cells are counted level by level, because ranges are asked. Measured on two generated
tables (14 columns and 30,000 rows, 12 and 60,000; five runs each): with 20 the mean error is .00134 and .00080, with 32
.00132 and .00081, with the 128 of a release .00142 and .00086."""
KEPT_CELLS = 2**19
"""Cells of all tables that are kept beside the records: 4 MB of a session's file."""
FEWEST_HARD, MOST_HARD = 3, 64
"""Hard answers of a session whose target error would allow fewer, or more: some to correct, and one to keep testing
with."""
THEMES = (1, Fraction(2, 25))
"""Tables that a session measures because they are asked about again and again, and the part of the budget of each.
Measured on 20 tables of four columns of a generated survey (14 columns, up to 300 cells, epsilon 1, two sessions): with
this part their cells are off by .82 of what a release of the whole budget is off by, with two tables of 1/25 by .95
each."""
LAST, STEEP = 3.0, 3
"""Threshold of the last hard answer, where that of the first is 1, and the power by which it rises from one to the
other: the last is kept for an error far beyond the first, because after it nothing is tested any more. Measured on 14
census columns (epsilon 1, 10,000 questions): with 3 hard answers, 3/5 of the budget for the opening and these steps all
answers of three sessions were tested and the largest errors were .0115, .0138 and .0112; with 4, 1/2 and a power of 4
.0141 and .0190; with two that rise by half only, 17 to 100 % of the answers were tested."""
COARSE = Fraction(1, 10)
"""Part of what pairs get that is spent on all of them in a few parts by a few (`coarse.PARTS`): a pair that is not
worth measuring cell by cell may still be off by a percent in a long range. Measured in two parts by two on generated
tables (churn, readmission and the demo's; epsilon 1, two to four runs each, 3,000 conjunctions and ranges): of 1,000
answers the worst is off by .0050, .0097 and .0191 with none, by .0044, .0073 and .0213 with this part, and by .0048,
.0093 and .0215 with 1/5. Sessions differ by more than that on the demo's, and on a fourth table (credit) and a survey
of 14 columns no difference was to be seen."""
IMPORTANT = 4.0
"""Weight of a pair of planned columns where another pair has 1."""


@dataclass(frozen=True, kw_only=True)
class OnlineTree(Online):
    """Answer from a synthetic table that is measured when the session opens and reweighted where it is shown wrong.

    **Privacy** the private table is touched by one run of 'tree' with a part of the budget (its own proof: parts that
    sum to that part, whatever the noisy answers are), by sparse vector (proof in `sparse_vector.py`) and by c fresh
    noisy numbers and a table. With delta = 0 the epsilons add up; with delta > 0 they compose at the account's
    order. Whatever is asked, the cost is that of the run, of all c answers and of the table.

    A table of three or more columns that is asked about again and again is measured as a whole (`themes.py`), at a
    price that is declared as well; which columns questions name is public.

    **Accuracy** an answer has the error of a 'tree' release with that part of the budget. One that is off by more than
    threshold + margin is found and measured with probability 95 %, as long as hard answers are left; the threshold is
    alpha n - margin, or the lowest at which false alarms stay rare among the planned questions, if that is higher; it
    rises with every hard answer, to three times as much for the last. After that one answers are unchecked. With a
    delta the number of hard answers is chosen once the number of rows is measured: as many as alpha allows; and what
    single columns bound as closely as a test would is not tested (`column_bounds.py`), so that false alarms are rare.

    **Runtime** opening as 'tree' with at most 90,000 records; an easy answer one table of the private rows and one of
    the records; a hard one a pass over the records for each number measured so far.

    Theorem: G algorithm 11 with the multiplicative update of theorem 4.10 on the records of a synthetic table in place
    of the cells of the universe; Bun and Steinke 2016, lemma 2.3 (composition).
    """

    name: ClassVar[str] = "online-tree"
    title: ClassVar[str] = "Answers from a synthetic table, tested and corrected"
    known_as: ClassVar[tuple[str, ...]] = (
        "PMW on records",
        "private multiplicative weights",
        "sparse vector (SVT)",
        "junction tree",
    )
    prefer: ClassVar[str] = "Choose it for any number of questions over a table of any size."
    refines: ClassVar[bool] = False

    alpha: float = option(
        "real",
        "Target error",
        default=0.007,
        above=0.0,
        below=1.0,
        help="An answer that is off by more, as a share of all rows, is to be found and measured. Where the budget "
        "cannot tell so small an error from noise, a larger one takes its place.",
    )
    questions: int = option(
        "whole",
        "Planned questions",
        default=10_000,
        low=1,
        high=MOST_PLANNED,
        help="How many questions the session is laid out for; more are answered all the same.",
    )
    opening: float = option(
        "real",
        "Opening share",
        default=0.6,
        low=0.1,
        high=0.8,
        help="Part of the budget for the synthetic table that answers; the rest finds and measures its errors.",
    )
    planned: tuple[str, ...] = option(
        "columns",
        "Columns that are mostly asked together",
        default=(),
        every=True,
        help="More of the opening goes to tables of these columns; with none named all pairs get the same.",
    )
    variant: str = fixed("no theorem bounds the errors of a synthetic table", "calibrated")

    def __post_init__(self) -> None:
        object.__setattr__(self, "planned", named_columns(self.planned, "planned"))
        Online.__post_init__(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for name in self.planned:
            if name not in domain:
                raise BadParameter("planned", f"'{printable(name)}' is not a column of this session.")
        self._workload(domain).check()

    def proposed(self, domain: Domain, unit: Unit) -> dict[str, Any]:
        return {}

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """Most answers are those of the synthetic table, so its error is the one to go by: that of a measured number
        would favour pure noise, with which the table is up to twice as wrong."""
        found, plan = super().expected(domain, unit), self._plan(domain, unit)
        mean = foreseen(_spending(plan, unit), self._workload(domain)).mean
        about = f"An answer, if the table has about {amount(self.rows)} rows (on average if all pairs are measured)"
        return replace(found, mean=mean, worst=max(found.worst, mean), about=about)

    def open(self, kernel: Kernel, earlier: Source | None = None) -> OnlineState:
        """`earlier` is not needed: what is measured here knows more of the same pairs."""
        domain, unit = kernel.domain, kernel.unit
        self.check(domain, unit)
        plan = self._plan(domain, unit)
        # With delta = 0 first of all, because the synthetic table could otherwise take parts of this event.
        watch = kernel.watch(plan.sparse) if self.budget.pure else None
        measuring = Measuring(kernel, _spending(plan, unit))
        made = synthesise(measuring, self._workload(domain), min(RECORDS, limits.MOST_POINTS))
        rows = max(1.0, made.total)
        if watch is None:
            plan = self._for_rows(plan, rows)
            watch = kernel.watch(plan.sparse)
        return OnlineState(
            rows=rows,
            hypothesis=_bounded(made),
            sparse=plan.sparse,
            threshold=self._threshold(plan, rows),
            watch=watch,
            past=(),
            themes=Themes(left=len(plan.themes), event=plan.themes[0]),
        )

    def answer(self, state: OnlineState, question: Query, kernel: Kernel) -> tuple[OnlineState, Reply]:
        """As every online session, after a table that was asked about often enough is measured."""
        check_question(question, kernel.domain)
        return super().answer(self._noticed(state, question.columns, kernel), question, kernel)

    def _answered(self, state: OnlineState, question: Single, kernel: Kernel) -> tuple[OnlineState, Reply]:
        """Without a test where single columns tell as much as one would; after the last hard answer that is all that is
        known of how far an answer is off."""
        known = self._by_columns(state, question)
        return (state, self._reply(state, *known, kernel.unit)) if known else super()._answered(state, question, kernel)

    def _by_columns(self, state: OnlineState, question: Single) -> tuple[float, Reach, ReplyKind] | None:
        """The answer, and how far off it is by single columns; None where a test would tell more."""
        assert isinstance(state.hypothesis, Tables)
        guess = state.total(question) / question.denominator
        reach = reach_by_columns(question, state.hypothesis.columns, guess)
        if reach is None or (state.left and reach(MISS) > easy_reach(state, MISS)):
            return None
        return guess, reach, "easy" if state.left else "unchecked"

    def answer_table(
        self, state: OnlineState, asked: DisjointQueries, kernel: Kernel
    ) -> tuple[OnlineState, list[Reply]]:
        """Without a test where single columns tell of every group as much as one would."""
        check_question(asked.queries[0], kernel.domain)
        state = self._noticed(state, asked.columns, kernel)
        known = [self._by_columns(state, query) for query in asked.queries]
        if all(each is not None for each in known):
            return state, [self._reply(state, *each, kernel.unit) for each in known if each is not None]
        return super().answer_table(state, asked, kernel)

    def _noticed(self, state: OnlineState, columns: Columns, kernel: Kernel) -> OnlineState:
        """The state once these columns are asked about; their table is measured where it was asked often enough."""
        themes = state.themes.asked(columns, kernel.domain, kernel.generator)
        if themes is not state.themes:
            state = replace(state, themes=themes)
        if themes.event is None or not themes.due(columns):
            return state
        measured = ask(kernel, Marginal(columns), themes.event)
        value = shrunk_table(measured.value.astype(np.float64), state.hypothesis.marginal(columns), measured.sigma)
        # What is left of the noise is taken out already, so there is nothing to leave as it was.
        learnt = self._learn(state, replace(measured, value=value, sigma=0.0), kernel.domain)
        return replace(learnt, themes=themes.measured(columns))

    def _replayed(self, state: OnlineState, answer: NoisyAnswer, domain: Domain) -> OnlineState:
        """The threshold rises with every hard answer that is used."""
        learnt, used = super()._replayed(state, answer, domain), state.sparse.most - state.left
        first = self._threshold(OnlinePlan(rows=None, opening=(), sparse=state.sparse), state.rows)
        risen = 1 + (LAST - 1) * (used / max(1, state.sparse.most - 1)) ** STEEP
        return replace(learnt, threshold=math.ceil(first * risen))

    def _measure(self, state: OnlineState, question: Single, kernel: Kernel) -> tuple[NoisyAnswer, float, Reach]:
        """The coarse table around the question, where it is a cell of one."""
        asked = question if self.replay and isinstance(question, Query) else None
        table = None if asked is None else table_around(asked, state.hypothesis)
        if asked is None or table is None:
            return super()._measure(state, question, kernel)
        measured = measure_groups(kernel, table, state.sparse.number)
        coarse = replace(asked, columns=table.columns, weights=table.picked(asked.weights))
        return NoisyAnswer(table, measured.values, measured.sigma), *read_measured(measured, coarse)

    def _workload(self, domain: Domain) -> Workload:
        """The pairs that the synthetic table is spent on: all that can be measured, planned ones before others."""
        sets: list[Columns] = [pair for pair in combinations(domain.names, 2) if domain.cells(pair) <= MOST_TABLE]
        sets = sets if len(sets) <= MOST_SCORED else []
        covered = {name for pair in sets for name in pair}
        sets = [*sets, *((name,) for name in domain.names if name not in covered)]
        planned = set(self.planned)
        weights = tuple(IMPORTANT if len(columns) == 2 and planned.issuperset(columns) else 1.0 for columns in sets)
        asked = Workload.of([Marginals(sets=tuple(sets), weights=weights)], domain, wide=WIDE)
        return replace(asked, coarse=COARSE)

    def _plan(self, domain: Domain, unit: Unit) -> OnlinePlan:
        """One run of comparisons, with as many hard answers as the guessed number of rows allows."""
        plan = lay_out(self.budget, unit, self._shares(domain), runs=1, cutoff=FEWEST_HARD)
        if not self.budget.pure:
            return self._for_rows(plan, float(self.rows))
        found = self._calibrated(domain, unit)
        return plan if found is None or found.sparse.most < FEWEST_HARD else found

    def _for_rows(self, plan: OnlinePlan, rows: float) -> OnlinePlan:
        """The same price with as many hard answers as a number of rows allows."""

        def fits(hard: int) -> bool:
            tried = plan.with_hard(hard)
            return tried.threshold(self.questions) + tried.margin() <= self.alpha * rows

        return plan.with_hard(max(FEWEST_HARD, largest_that_fits(fits, most=MOST_HARD)))

    def _shares(self, domain: Domain) -> Shares:
        numbers = PURE_NUMBERS_SHARE if self.budget.pure else NUMBERS_SHARE
        return Shares(numbers=numbers, synopsis=self._synopsis, themes=THEMES)

    def _rows_event(self, unit: Unit) -> Additive | None:
        """The synthetic table measures the number of rows and joins it with sums of tables, which only adds to it."""
        return None if unit.public_rows else mixed_share_of(self.budget, self._synopsis * COUNT)

    @property
    def _synopsis(self) -> Fraction:
        """The part of the budget that the synthetic table gets."""
        return Fraction(self.opening).limit_denominator(1_000)

    def _update(self, domain: Domain) -> Update[Any]:
        return Weights()

    def _numbers(self, domain: Domain) -> int:
        return RECORDS

    def _pass_seconds(self, domain: Domain) -> float:
        return 1e-4 + 1.6e-8 * RECORDS + 2e-8 * LARGEST


def _spending(plan: OnlinePlan, unit: Unit) -> Spending:
    event = plan.synopsis
    assert event is not None
    if isinstance(event, Gaussian):
        return Spending(event.rho, pure=False, unit=unit)
    return Spending(event.epsilon, pure=True, unit=unit)


def _bounded(made: Tables) -> Tables:
    """The tables with the fewest cells, as many as a session keeps; records answer for the others."""
    counts, cells = {}, 0
    for columns, table in sorted(made.counts.items(), key=lambda item: item[1].size):
        cells += table.size
        if cells > KEPT_CELLS:
            break
        counts[columns] = table
    return replace(made, counts=counts)
