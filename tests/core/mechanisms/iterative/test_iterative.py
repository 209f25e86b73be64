"""The iterative construction: the loop, its three mechanisms, their accuracy and refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.base.errors import BadParameter, DeskError, Refused
from core.kernel.kernel import Kernel
from core.mechanisms.iterative.construct import construct
from core.mechanisms.iterative.distinguish import WorstTable
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.kit.schedule import lay_out
from core.models.dense import Dense
from core.models.fitting.updates import Weights
from core.models.nets.median import MedianSet
from core.models.signed import Signed
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.intervals import Intervals
from core.queries.kit.question import totals_on
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from tests.core.samples import SMALL, small_counts
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

PAIRS = (Marginals(order=2),)
FULLEST = (Lipschitz(columns=("colour", "size"), statistics=(("largest",), ("top", 3))),)
BITS = Domain((Booleans(name="a"), Booleans(name="b")))
KINDS = (IterativeWeights, IterativePerceptron, IterativeMedian)


def distance(counts, model, queries=PAIRS) -> float:
    """Mean total variation over the tables of the classes."""
    rows = counts.marginal(()).sum()
    tables = [columns for query in queries for columns in query.tables(counts.domain)]
    return float(np.mean([np.abs(counts.marginal(key) - model.marginal(key)).sum() / (2 * rows) for key in tables]))


def mean_distance(mechanism, counts, runs=10) -> float:
    return float(np.mean([distance(counts, run(mechanism, counts, Noise())) for _ in range(runs)]))


# Accuracy


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [IterativeWeights, IterativePerceptron])
def test_whole_tables_beat_the_uniform_guess_by_far_and_improve_with_epsilon(kind):
    counts = small_counts()
    guess = distance(counts, Dense.uniform(SMALL, 5_000.0))
    loose, usual, sharp = (mean_distance(kind(queries=PAIRS, budget=Budget(e)), counts) for e in (0.1, 1, 10))
    assert sharp < usual < loose < guess / 3
    assert usual < guess / 25


def test_whole_tables_beat_independent_columns():
    counts = small_counts()
    shares = [counts.marginal((name,)) / 5_000 for name in SMALL.names]
    independent = Dense(SMALL, 5_000 * np.einsum("i,j,k->ijk", *shares))
    assert mean_distance(IterativeWeights(queries=PAIRS, budget=Budget(1)), counts) < distance(counts, independent) / 10


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("kind", [IterativeWeights, IterativePerceptron])
@pytest.mark.parametrize("questions", ["tables", "members"])
def test_replaying_improves_on_not_replaying(kind, questions):
    counts = small_counts()
    options = {"queries": PAIRS, "budget": Budget(4), "questions": questions}
    replayed = mean_distance(kind(**options), counts, runs=15)
    assert replayed < 0.95 * mean_distance(kind(**options, replay=0), counts, runs=15)


@pytest.mark.exhaustive
def test_intervals_are_learned_through_their_ends():
    domain = Domain((Integers(name="x", low=0, high=1023),))
    cells = np.zeros(1024, dtype=np.int64)
    cells[300:400], cells[700:720] = 50, 100
    counts, query = Cells(domain, cells), Intervals(column="x")
    errors = [
        query.worst(counts, run(IterativeWeights(queries=(query,), budget=Budget(epsilon)), counts, Noise()))
        for epsilon in (0.05, 8)
    ]
    assert errors[1] < 0.05 < errors[0]


def test_fractional_questions_are_learned():
    weights = np.random.default_rng(0).random((6, 3, 4))
    query = Linear.rounded(SMALL, ("colour", "size"), weights)
    counts = small_counts()
    model = run(IterativeWeights(queries=(query,), budget=Budget(10)), counts, Noise())
    assert query.worst(counts, model) < 0.01 < query.worst(counts, Dense.uniform(SMALL, 5_000.0))


def test_on_dense_data_the_perceptron_needs_fewer_rounds_and_is_no_worse():
    """Every cell about equally full: T is 4 u/alpha^2 with u near 1, against 16 ln|X|/alpha^2 for weights."""
    dense = Cells(SMALL, np.random.default_rng(0).integers(190, 230, 24))
    weights = IterativeWeights(queries=PAIRS, budget=Budget(1), variant="theorem", accuracy=0.2)
    perceptron = IterativePerceptron(queries=PAIRS, budget=Budget(1), variant="theorem", accuracy=0.2, unevenness=1.1)
    rounds = [len(mechanism.cost(SMALL, Unit.row()).events) for mechanism in (weights, perceptron)]
    assert rounds[1] < rounds[0] / 10
    kinds = (IterativeWeights, IterativePerceptron)
    tuned = [mean_distance(kind(queries=PAIRS, budget=Budget(1)), dense) for kind in kinds]
    assert tuned[1] < 1.3 * tuned[0]


@pytest.mark.parametrize("questions", ["auto", "members"])
@pytest.mark.parametrize(
    "query", [Conjunctions(order=2), Conjunctions(order=2, connective="or"), Parities(), Parities(parity="even")]
)
def test_the_perceptron_learns_what_is_said_about_every_row_too(query, questions):
    """Conjunctions of nothing and parities of no facts count every row; the others must not be learnt at their cost."""
    facts = Domain(tuple(Booleans(name=name) for name in "abcd"))
    counts = Cells(facts, np.array([9, 0, 4, 1, 0, 7, 2, 2, 11, 3, 0, 0, 5, 1, 1, 4]) * 200_000)
    options = {"queries": (query,), "budget": Budget(1), "questions": questions}
    assert query.worst(counts, run(IterativePerceptron(**options), counts)) < 0.02


# The theorem variant


def rows_needed(mechanism, domain, unit, beta=0.1) -> float:
    """Theorem 5.6 solved for the number of rows, at the schedule's own epsilon."""
    schedule = mechanism._schedule(domain, unit)
    questions = sum(math.exp(query.log_size(domain)) for query in mechanism.queries)
    rounds, each = schedule.rounds, float(min(schedule.choosing.epsilon, schedule.asking.epsilon))
    return unit.limit * 16 * math.log(2 * rounds * questions / beta) / (each * mechanism.accuracy)


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace")])
@pytest.mark.parametrize(
    ("kind", "options"), [(IterativeWeights, {}), (IterativePerceptron, {"unevenness": 4.0}), (IterativeMedian, {})]
)
def test_the_theorems_accuracy_is_met_at_its_own_number_of_rows(kind, options, unit):
    query, alpha = Marginals(order=2), 0.5
    mechanism = kind(queries=(query,), budget=Budget(1), variant="theorem", accuracy=alpha, **options)
    rows = math.ceil(rows_needed(mechanism, BITS, unit))
    counts = Cells(BITS, np.array([rows, 0, 0, 0]), unit)
    missed = 0
    for _ in range(30):
        model = run(mechanism, counts, Noise())
        missed += np.abs(query.totals(counts) - totals_on(query, model)).max() > alpha * rows
    assert missed <= 3


def test_the_run_stops_when_a_measured_answer_is_near_and_the_cost_covers_every_round():
    mechanism = IterativeWeights(queries=PAIRS, budget=Budget(1), variant="theorem", accuracy=0.5)
    counts = Cells(SMALL, np.full(24, 10_000))
    recorder = Recorder(0)
    model = run(mechanism, counts, recorder)
    assert [call.kind for call in recorder.calls] == ["laplace", "select", "laplace"]
    assert np.ptp(model.cells) == 0
    rounds = math.ceil(16 * math.log(24) / 0.5**2)
    assert len(mechanism.cost(SMALL, Unit.row()).events) == 1 + 2 * rounds
    assert len(mechanism.cost(SMALL, Unit.row("replace")).events) == 2 * rounds


def test_the_theorem_variant_takes_the_papers_steps():
    """One wrong question, exact answers: each round multiplies by exp(alpha/4) until within 3/4 alpha."""
    counts = Cells(BITS, np.array([10**9, 0, 0, 0]), Unit.row("replace"))
    query = Marginals(sets=(("a",),))
    model = run(IterativeWeights(queries=(query,), budget=Budget(1), variant="theorem", accuracy=0.4), counts, Noise())
    odds = model.marginal(("a",))[0] / model.marginal(("a",))[1]
    steps = math.log(odds) / 0.1
    assert steps == pytest.approx(round(steps), abs=1e-6)
    assert 1 / (1 + odds) <= 0.3 < 1 / (1 + odds * math.exp(-0.1))


# The loop


@dataclass(frozen=True)
class Independent:
    """A model of another kind: two columns that are never joined, with only the methods the loop may use."""

    domain: Domain
    total: float
    columns: dict

    @classmethod
    def uniform(cls, domain, total):
        return cls(domain, total, {name: np.full(domain[name].size, 1 / domain[name].size) for name in domain.names})

    def marginal(self, columns):
        return self.total * self.columns[columns[0]] if columns else np.asarray(self.total)

    def scaled(self, columns, factors):
        return replace(self, columns={**self.columns, columns[0]: self.columns[columns[0]] * factors})


def test_another_model_slots_into_the_same_loop():
    counts = small_counts()
    schedule = lay_out(Budget(20), rounds=4, selection=0.2, opening={(): 0.05})
    model = construct(
        Kernel(counts, Noise(), schedule.cost),
        update=Weights(begin=Independent.uniform),
        distinguisher=WorstTable(((("size",), 1.0), (("old",), 1.0)), 1.0),
        schedule=schedule,
        replay=2,
    )
    assert isinstance(model, Independent)
    for column in ("size", "old"):
        assert np.abs(model.marginal((column,)) - counts.marginal((column,))).max() < 30


def test_each_mechanism_returns_its_own_model_and_records_of_the_schema():
    for kind, model in ((IterativeWeights, Dense), (IterativePerceptron, Signed), (IterativeMedian, MedianSet)):
        release = run(kind(queries=PAIRS, budget=Budget(1, 1e-9)), small_counts(), Noise())
        assert isinstance(release, model)
        assert release.sample(50, np.random.default_rng(0)).shape == (50, 3)
        assert abs(release.total - 5_000) < 500


def test_an_empty_table_is_released_like_any_other():
    for kind in KINDS:
        model = run(kind(queries=PAIRS, budget=Budget(1)), Cells(SMALL, np.zeros(24, dtype=int)))
        assert model.total > 0.99
        assert model.sample(5, np.random.default_rng(0)).shape == (5, 3)


def test_progress_rises_and_says_nothing_about_data():
    seen = []
    run(IterativeWeights(queries=PAIRS, budget=Budget(1)), small_counts(), Noise(), lambda *call: seen.append(call))
    assert [share for _, share in seen] == sorted(share for _, share in seen)
    assert {stage for stage, _ in seen} == {"Measuring the first tables", "Choosing and measuring"}


def test_the_usual_number_of_rounds_follows_public_facts():
    def rounds(kind=IterativeWeights, **options):
        events = kind(**{"queries": PAIRS, "budget": Budget(1), **options}).cost(SMALL, Unit.row()).events
        return sum(type(event).__name__ == "Selection" for event in events)

    assert rounds() == 3
    assert rounds(rounds=17) == 17
    assert rounds(questions="members") == 20
    assert rounds(questions="members", budget=Budget(0.01)) == 5
    assert rounds(IterativeMedian) == math.ceil(math.log2(1_000))


# Refusals


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("accuracy", 0),
        ("accuracy", 1),
        ("accuracy", -0.1),
        ("accuracy", 1.5),
        ("accuracy", "much"),
        ("rounds", -1),
        ("rounds", 2.5),
        ("rounds", True),
        ("rounds", 10**7),
        ("selection", 1),
        ("selection", -0.1),
        ("variant", "best"),
        ("questions", "both"),
        ("replay", -1),
    ],
)
def test_bad_options_are_refused_by_name(kind, parameter, value):
    with pytest.raises(BadParameter) as refusal:
        kind(queries=PAIRS, budget=Budget(1), **{parameter: value})
    assert refusal.value.parameter == parameter


def test_options_of_single_mechanisms_are_checked():
    for kind, options in (
        (IterativePerceptron, {"unevenness": 0.5}),
        (IterativeWeights, {"variant": "theorem", "questions": "tables"}),
        (IterativeMedian, {"questions": "tables"}),
        (IterativeMedian, {"replay": 2}),
        (IterativeMedian, {"members": 1}),
        (IterativeMedian, {"net": "some"}),
        (IterativeMedian, {"variant": "theorem", "net": "random"}),
    ):
        with pytest.raises(BadParameter):
            kind(queries=PAIRS, budget=Budget(1), **options)


@pytest.mark.parametrize("kind", [IterativeWeights, IterativePerceptron])
def test_a_universe_too_large_is_refused_with_its_size_and_another_mechanism(kind):
    wide = Domain(tuple(Integers(name=f"c{place}", low=0, high=9) for place in range(8)))
    with pytest.raises(Refused, match=r"100,000,000.*'tree'"):
        kind(queries=PAIRS, budget=Budget(1)).check(wide, Unit.row())


def test_an_accuracy_out_of_reach_names_the_nearest_that_works():
    mechanism = IterativeWeights(queries=PAIRS, budget=Budget(1), variant="theorem", accuracy=0.01)
    with pytest.raises(BadParameter, match=r"0\.023 or more"):
        mechanism.check(SMALL, Unit.row())
    IterativeWeights(queries=PAIRS, budget=Budget(1), variant="theorem", accuracy=0.023).check(SMALL, Unit.row())


def test_a_net_too_large_is_refused_with_its_size():
    with pytest.raises(Refused, match=r"475,020 databases of 6 rows.*iterative-weights"):
        IterativeMedian(queries=PAIRS, budget=Budget(1), net="all", size=6).check(SMALL, Unit.row())


def test_only_the_median_takes_questions_that_are_not_linear():
    for kind in (IterativeWeights, IterativePerceptron):
        with pytest.raises(DeskError, match="iterative-median"):
            kind(queries=FULLEST, budget=Budget(1)).check(SMALL, Unit.row())
    model = run(IterativeMedian(queries=FULLEST, budget=Budget(20), members=3_000), small_counts(), Noise())
    truth = FULLEST[0].totals(small_counts()) / 5_000
    assert np.abs(totals_on(FULLEST[0], model) / 5_000 - truth).max() < 0.1


def test_too_many_single_questions_are_refused():
    wide = Domain(tuple(Integers(name=f"c{place}", low=0, high=127) for place in range(3)))
    mechanism = IterativeWeights(queries=(Marginals(order=3),), budget=Budget(1), questions="members")
    with pytest.raises(Refused, match="too many"):
        mechanism.check(wide, Unit.row())
    replace(mechanism, questions="tables").check(wide, Unit.row())
