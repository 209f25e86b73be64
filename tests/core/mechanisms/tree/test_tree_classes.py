"""One synthetic table for several query classes at once."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from core.kernel.interactions import Interaction
from core.mechanisms.ranges.interval_tree import IntervalTree
from core.mechanisms.tree.tree import Tree
from core.models import tables as tables_model
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import BUDGETS, LINE, PLANE, UNITS, check_private
from tests.core.mechanisms.tree.test_tree import Rows, chain
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

EVERYTHING = (
    Marginals(order=2),
    Intervals(column="x"),
    Unions(column="y", parts=2),
    Rectangles(columns=("x", "y")),
    Halfspaces(columns=("x", "y"), directions=8),
)
PEOPLE = Domain(
    (
        Integers(name="pay", low=0, high=2**16 - 1),
        Integers(name="age", low=0, high=99),
        Categories(name="job", values=tuple(range(6))),
        Booleans(name="ill"),
    )
)


def people(rows: int = 20_000) -> Rows:
    """Pay rises with the job and with age; one in ten earns nothing."""
    generator = np.random.default_rng(0)
    job, age = generator.integers(0, 6, rows), np.clip(generator.normal(45, 15, rows), 0, 99).astype(int)
    pay = np.exp(generator.normal(8.2 + 0.2 * job + 0.02 * age, 0.4)).astype(int)
    pay[generator.random(rows) < 0.1] = 0
    ill = generator.random(rows) < age / 120
    return Rows(PEOPLE, np.stack([np.clip(pay, 0, 2**16 - 1), age, job, ill], axis=1))


def range_error(table: Rows, released, column: str) -> float:
    """Mean error of random ranges of a column, as a share."""
    truth, made = table.marginal((column,)), np.asarray(released.marginal((column,)), dtype=float)
    off = np.concatenate([[0.0], np.cumsum(made / made.sum() - truth / truth.sum())])
    first, last = np.random.default_rng(1).integers(0, off.size, (2, 5_000))
    return float(np.abs(off[last] - off[first]).mean())


def drawn(table: Rows, model, seed: int = 0) -> Rows:
    return Rows(table.domain, model.sample(len(table.codes), np.random.default_rng(seed)))


@pytest.fixture
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 500)
    monkeypatch.setattr(tables_model, "MOST_POINTS", 20_000)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}{unit.neighbours}")
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_replay_of_all_classes_together_on_neighbours(budget, unit, monkeypatch):
    check_private(Tree(queries=EVERYTHING, budget=budget), PLANE, unit, monkeypatch, pairs=8)
    halfspaces = Halfspaces(columns=("x",), directions=4)
    check_private(Tree(queries=(Intervals(column="x"), halfspaces), budget=budget), LINE, unit, monkeypatch, pairs=8)


@pytest.mark.exhaustive
def test_exact_privacy_loss_of_all_steps_together(few_points):
    """Every table of up to four rows on four cells, every neighbour, every step: never more than epsilon in all."""
    micro = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
    queries = (Marginals(order=2), Intervals(column="a"), Halfspaces(columns=("a", "b"), directions=4))
    tree = Tree(queries=queries, budget=Budget(1))
    rows = (chosen for size in range(4) for chosen in combinations_with_replacement(range(4), size))
    tables = [np.bincount(chosen, minlength=4) for chosen in rows]
    largest = 0.0
    for seed, table in enumerate(tables):
        recorded = Recorder(seed)
        run(tree, Cells(micro, table), recorded)
        replayed = Recorder(seed, recorded.calls)
        run(tree, Cells(micro, table + np.eye(4, dtype=int)[seed % 4]), replayed)
        pairs = zip(recorded.calls, replayed.calls, strict=True)
        largest = max(largest, sum(before.loss(after) for before, after in pairs))
    assert 0.5 < largest <= 1 + 1e-9


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", [Budget(2), Budget(2, 1e-9), Budget(100, 1e-9)], ids=str)
def test_what_was_asked_is_within_the_declared_cost(budget, few_points):
    table, recorder = people(4_000), Recorder(0)
    queries = (Marginals(order=2), Intervals(column="pay"), Halfspaces(columns=("pay", "age")))
    tree = Tree(queries=queries, budget=budget)
    run(tree, table, recorder)
    declared, order = tree.cost(PEOPLE, Unit.row()), accounting.order_for(budget)
    assert accounting.units(recorder.cost(), order) <= accounting.units(declared, order)
    assert accounting.units(recorder.cost(), order) > 0.5 * accounting.units(declared, order)


@pytest.mark.exhaustive
def test_one_table_answers_tables_ranges_and_halfspaces_well():
    """Each class that is ticked is answered better than by a release that does not know of it."""
    table = people()
    budget = Budget(1, 1e-9)
    tables, ranges = Marginals(order=2, columns=("age", "job", "ill")), Intervals(column="pay")
    planes = Halfspaces(columns=("pay", "age"), directions=128)
    model = run(Tree(queries=(tables, ranges, planes), budget=budget), table, Noise())
    rows = drawn(table, model)
    blind = drawn(table, run(Tree(queries=(tables,), budget=budget), table, Noise()))
    truth = {query.name: query.answers(table) for query in (tables, planes)}
    for source in (model, rows):
        assert np.abs(tables.answers(source) - truth["marginals"]).mean() < 0.0012
        assert range_error(table, source, "pay") < 0.004
        assert np.abs(planes.answers(source) - truth["halfspaces"]).mean() < 0.008
    assert range_error(table, blind, "pay") > 0.1
    assert np.abs(planes.answers(blind) - truth["halfspaces"]).mean() > 0.05


@pytest.mark.exhaustive
def test_planes_that_are_counted_improve_halfspaces(few_points, monkeypatch):
    """The same release without its halfspace counts answers halfspaces worse: three clouds that pairs cannot tell."""
    generator = np.random.default_rng(0)
    domain = Domain(tuple(Integers(name=name, low=0, high=31) for name in "xyz"))
    signs = generator.integers(0, 2, (20_000, 2)) * 2 - 1
    centres = np.column_stack([signs, signs.prod(axis=1)])
    table = Rows(domain, np.clip(16 + 8 * centres + generator.normal(0, 2, centres.shape), 0, 31).astype(int))
    planes = Halfspaces(columns=tuple("xyz"), directions=256)
    truth = planes.answers(table)
    errors = []
    for skipped in (False, True):
        if skipped:
            monkeypatch.setattr("core.mechanisms.tree.noisy_halfspaces.Sides.fit", lambda self, weights: weights)
        runs = [run(Tree(queries=(planes,), budget=Budget(2, 1e-9)), table, Noise()).points for _ in range(2)]
        errors.append(np.mean([np.abs(planes.answers(each) - truth).mean() for each in runs]))
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.exhaustive
def test_ranges_are_as_good_as_those_of_a_tree_of_their_own_share():
    table = people()
    asked = (Intervals(column="pay"),)
    both = [run(Tree(queries=(Marginals(order=2), *asked), budget=Budget(1)), table, Noise()) for _ in range(40)]
    alone = [run(IntervalTree(queries=asked, budget=Budget(0.33)), table, Noise()) for _ in range(10)]
    ours, records, theirs = (
        np.mean([range_error(table, each, "pay") for each in models])
        for models in (both, [drawn(table, model, place) for place, model in enumerate(both)], alone)
    )
    # Over 90 runs the model erred by .00132 of the rows and whole records by 1.24 of that, give or take .02 (weighted
    # ones by 1.06, over 30); the tree alone, which searches first, as the model does not, by .00096.
    assert ours < 0.0015
    assert ours < 1.6 * theirs
    assert records < 1.3 * ours


@pytest.mark.exhaustive
def test_a_wide_column_keeps_its_dependence_on_others():
    """Pay in eighths against the job, from rows: a column of 65,536 cells is grouped, not merged into one rare cell."""
    table = people()
    rows = drawn(table, run(Tree(queries=(Marginals(order=2),), budget=Budget(1, 1e-9)), table, Noise()))
    cuts = np.quantile(table.codes[:, 0], np.arange(1, 8) / 8)
    shares = []
    for codes in (table.codes, rows.codes):
        joint = np.bincount(np.searchsorted(cuts, codes[:, 0]) * 6 + codes[:, 2], minlength=48)
        shares.append(joint / joint.sum())
    independent = np.outer(shares[0].reshape(8, 6).sum(axis=1), shares[0].reshape(8, 6).sum(axis=0)).ravel()
    assert np.abs(shares[1] - shares[0]).sum() / 2 < 0.25 * np.abs(independent - shares[0]).sum() / 2


@pytest.mark.exhaustive
def test_rectangles_are_met_by_records_and_answers():
    table = people()
    domain = Domain((Integers(name="pay", low=0, high=63), *PEOPLE.attributes[1:]))
    coarse = Rows(domain, np.column_stack([table.codes[:, 0] // 1024, table.codes[:, 1:]]))
    boxes = Rectangles(columns=("pay", "age"))
    model = run(Tree(queries=(boxes, Marginals(columns=("job", "ill"))), budget=Budget(1, 1e-9)), coarse, Noise())
    blind = run(Tree(queries=(Marginals(order=1),), budget=Budget(1, 1e-9)), coarse, Noise())
    for source in (model, drawn(coarse, model)):
        assert boxes.worst(coarse, source) < 0.6 * boxes.worst(coarse, blind)


def test_weights_decide_what_is_measured_with_less_noise(few_points):
    """The pair that matters a hundred times more gets the larger amount, whichever of the two it is."""
    table = chain(4, 5_000, size=5)
    for heavy in (("c0", "c1"), ("c2", "c3")):
        light = ("c2", "c3") if heavy == ("c0", "c1") else ("c0", "c1")
        recorder = Recorder(0)
        queries = (Marginals(sets=(heavy, light), weights=(100.0, 1.0)),)
        run(Tree(queries=queries, budget=Budget(3, 1e-9)), table, recorder)
        amounts = {}
        told = {pair: Interaction(pair, (5, 5), centred=True).counts(table) for pair in (heavy, light)}
        for call in recorder.calls:
            for pair in (heavy, light):
                if np.array_equal(call.hidden, told[pair]):
                    amounts[pair] = amounts.get(pair, 0) + call.amount
        assert amounts[heavy] > 5 * amounts.get(light, 0)


def test_tables_of_three_columns_are_measured_themselves(few_points):
    """A parity that no pair shows."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 2, (6_000, 3))
    codes[:, 2] = codes[:, 0] ^ codes[:, 1]
    table = Rows(Domain(tuple(Booleans(name=name) for name in "abc")), codes)
    triple = Marginals(order=3)
    model = run(Tree(queries=(triple,), budget=Budget(2, 1e-9)), table, Noise())
    assert triple.worst(table, model) < 0.03 and triple.worst(table, drawn(table, model)) < 0.03


@pytest.mark.parametrize(
    ("queries", "stages"),
    [
        (
            (Marginals(order=2),),
            (
                "Measuring single columns",
                "Measuring pairs of columns",
                "Fitting the tree",
                "Drawing records",
                "Re-weighting records",
            ),
        ),
        (
            (Intervals(column="x"),),
            (
                "Measuring single columns",
                "Fitting the tree",
                "Drawing records",
                "Re-weighting records",
                "Re-weighting records to ranges and halfspaces",
            ),
        ),
    ],
    ids=["tables", "ranges"],
)
def test_progress_names_its_stages_in_order(queries, stages, few_points):
    seen: list[tuple[str, float]] = []
    table = Cells(PLANE, np.random.default_rng(0).poisson(4, PLANE.shape()))
    run(Tree(queries=queries, budget=Budget(1)), table, Noise(), lambda *step: seen.append(step))
    assert tuple(stage for stage, _ in seen) == stages
    shares = [share for _, share in seen]
    assert shares[0] == 0 and all(later > sooner for sooner, later in pairwise(shares))
    assert shares[-1] < 1
