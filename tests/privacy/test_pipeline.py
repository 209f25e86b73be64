"""The whole way from every kind of source to everything that is published, on neighbours with the same noise.

Every mechanism, session and discovery goes it with every unit and both kinds of budget: a share of them here, in groups
that spend from one account, and far more among the slow tests.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from itertools import cycle, product
from typing import Any

import pyarrow.parquet as pq
import pytest

from core import Budget, Desk, Domain, Marginals, Unit, registry
from core.queries.halfspaces import Halfspaces
from tests.core.mechanisms.asked import questions
from tests.privacy.kit import cases, hostile
from tests.privacy.kit.pipeline import Pair, Registered, Step, discovery, release, replayed, replayed_on, session
from tests.privacy.kit.sessions import PLANNED, VARIANTS, built, quick_walks, told_apart
from tests.privacy.kit.sources import DOMAIN, FORMATS, ODD, Place, Writer

ABC = cases.DOMAIN.names
EXAMPLES = cases.EXAMPLES | {
    "marginals": (Marginals(order=2, columns=(*ABC, "town", "ill")),),
    "planes": (Halfspaces(columns=("a", "b"), directions=6), Halfspaces(columns=("b", "c"), directions=4)),
}
"""Questions about some columns of the schema; two classes of halfspaces share one part of a budget."""
ASKED = questions(cases.DOMAIN, 5, denominators=(1, 8))
KINDS = {"pure": cases.PURE, "approximate": cases.APPROXIMATE}
PLACES: tuple[Place, ...] = ("last", "first")
SETTINGS = [
    (unit, kind, form, place, odd)
    for (unit, kind), form, place, odd in zip(
        product(cases.UNITS, KINDS), cycle(FORMATS), cycle(PLACES), cycle(range(len(ODD))), strict=False
    )
]
"""Each unit with each kind of budget, through all formats, places and odd rows in turn."""
IDS = [f"{unit.limit}{unit.neighbours}-{kind}-{form}-{place}" for unit, kind, form, place, _ in SETTINGS]
NAMES = (*registry.mechanisms, "discovery")


def ways(unit: Unit, budget: Budget) -> Iterator[tuple[str, Step]]:
    """Everything that the desk can run with this unit and budget."""
    for name, kind in registry.offline.items():
        options = {key: value for key, value in cases.QUICK.items() if key in {each.name for each in fields(kind)}}
        for example, queries in EXAMPLES.items():
            if cases.build(name, queries, budget, _asked(example), unit):
                yield f"{name}-{example}", release(name, queries, options)
    for name, variants in VARIANTS.items():
        known = registry.interactive[name].__dataclass_fields__
        for place, options in enumerate(variants):
            if built(name, budget, options, cases.DOMAIN, unit):
                planned = {key: value for key, value in PLANNED.items() if key in known}
                yield f"{name}-{place}", session(name, ASKED, ABC, {**planned, **options})
    yield "discovery-all", discovery({"a": "number", "seen": "date", "town": "text"})
    yield "discovery-number", discovery({"weight": "number"})


def _asked(example: str) -> Domain:
    return DOMAIN.project((*ABC, "town", "ill")) if example == "marginals" else cases.DOMAIN


@cache
def possible() -> list[dict[str, Step]]:
    """Everything that each of the settings admits."""
    return [dict(ways(unit, KINDS[kind])) for unit, kind, *_ in SETTINGS]


@cache
def everything() -> list[list[Step]]:
    """All of it with both kinds of budget, dealt out to the units: each has its turn with one that admits it."""
    dealt: list[list[Step]] = [[] for _ in SETTINGS]
    for kind in KINDS:
        turns = [turn for turn, setting in enumerate(SETTINGS) if setting[1] == kind]
        for place, label in enumerate(dict.fromkeys(label for turn in turns for label in possible()[turn])):
            turn = next(turn for turn in turns[place % len(turns) :] + turns if label in possible()[turn])
            dealt[turn].append(possible()[turn][label])
    return dealt


@cache
def shares() -> list[dict[str, Step]]:
    """Everything dealt out to the settings: each name has its turn in one that admits it."""
    dealt: list[dict[str, Step]] = [{} for _ in SETTINGS]
    for place, name in enumerate(NAMES):
        for turn in range(3 * place, 3 * place + len(SETTINGS)):
            offered, taken = possible()[turn % len(SETTINGS)], dealt[turn % len(SETTINGS)]
            labels = [label for label in offered if label.rpartition("-")[0] == name]
            if labels:
                label = labels[place % len(labels)]
                taken[label] = offered[label]
                break
    return dealt


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with cases.few_points(), quick_walks(), told_apart():
        yield


@pytest.mark.exhaustive
def test_everything_has_its_turn() -> None:
    assert {label.rpartition("-")[0] for share in shares() for label in share} == set(NAMES)
    assert {form for _, _, form, _, _ in SETTINGS} == FORMATS.keys()
    assert {(unit, kind) for unit, kind, *_ in SETTINGS} == set(product(cases.UNITS, KINDS))


@pytest.mark.exhaustive
@pytest.mark.parametrize("turn", range(len(SETTINGS)), ids=IDS)
def test_the_whole_way_on_neighbours(turn: int) -> None:
    unit, kind, form, place, odd = SETTINGS[turn]
    assert replayed(list(shares()[turn].values()), unit, KINDS[kind], form=form, place=place, odd=odd) == 1


MEASURED = [
    ("tree", "marginals"),
    ("laplace", "rectangles"),
    ("smalldb-linear", "conjunctions"),
    ("iterative-weights", "several"),
    ("gaussian", "linear"),
    ("interval-tree", "intervals"),
    ("histogram", "counting"),
    ("halfspace-fit", "halfspaces"),
]
"""Releases that are measured and have a copy: every kind of model, tables and records, and every kind of figure."""


def measured(turn: int, taken: int) -> list[Step]:
    """So many of them that can be had in a setting."""
    unit, kind, *_ = SETTINGS[turn]
    steps = []
    for name, example in MEASURED[turn % len(MEASURED) :] + MEASURED[: turn % len(MEASURED)]:
        if cases.build(name, EXAMPLES[example], KINDS[kind], _asked(example), unit):
            known = {each.name for each in fields(registry.offline[name])}
            options = {key: value for key, value in cases.QUICK.items() if key in known}
            steps.append(release(name, EXAMPLES[example], {**options, "measure": "0.05", "copies": 1}))
    return steps[:taken]


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("turn", range(len(SETTINGS)), ids=IDS)
def test_a_measured_release_on_neighbours(turn: int) -> None:
    unit, kind, form, place, odd = SETTINGS[turn]
    assert replayed(measured(turn, 2), unit, KINDS[kind], form=form, place=place, odd=odd, seed=5) == 1


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(len(SETTINGS)), ids=IDS)
def test_everything_on_neighbours(turn: int) -> None:
    """Every mechanism with every class it serves and both kinds of budget, each with one of the units."""
    unit, kind, form, place, odd = SETTINGS[turn]
    assert replayed(everything()[turn], unit, KINDS[kind], form=form, place=place, odd=odd, seed=2) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("form", "place", "odd"), list(product(FORMATS, PLACES, range(len(ODD)))))
def test_every_source_on_neighbours(form: str, place: Place, odd: int) -> None:
    """All columns of every format, with every odd row before and after the others; two units take turns."""
    steps = [release("tree", (Marginals(order=2),), {}), discovery(dict.fromkeys(DOMAIN.names, "text"))]
    unit = cases.UNITS[3 * ((list(FORMATS).index(form) + odd) % 2)]
    assert replayed(steps, unit, cases.APPROXIMATE, form=form, place=place, odd=odd, seed=3) == 1


def hostile_pair(writer: Writer, name: str) -> tuple[Pair, Unit]:
    """The units take turns, so that every kind of hostile row meets one of them with every writer."""
    unit = hostile.UNITS[list(hostile.HOSTILE).index(name) % len(hostile.UNITS)]
    rows, changed = hostile.rows(), hostile.neighbour(unit, hostile.HOSTILE[name])
    return Pair(hostile.DOMAIN, rows, changed, writer, "last"), unit


def typed_by_the_schema(desk: Desk, source: Any, held: Registered) -> tuple[Any, ...]:
    """A release whose records have the types that the schema says, whatever the source is stored in."""
    *published, content = release("gaussian", (Marginals(order=2),), {"records": 50})(desk, source, held)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        types = [str(kind) for kind in pq.read_schema(io.BytesIO(archive.read("synthetic.parquet"))).types]
    assert types == ["int64", "large_string", "large_string", "double", "timestamp[us]", "date32[day]", "bool"]
    return *published, content


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("writer", hostile.WRITERS, ids=lambda writer: writer.__name__)
@pytest.mark.parametrize("name", hostile.HOSTILE)
def test_a_release_shows_nothing_of_a_hostile_row(writer: Writer, name: str) -> None:
    pair, unit = hostile_pair(writer, name)
    assert replayed_on(pair, [typed_by_the_schema], unit, cases.APPROXIMATE, seed=7) <= 1


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("writer", hostile.TYPED, ids=lambda writer: writer.__name__)
@pytest.mark.parametrize("name", hostile.HOSTILE)
def test_bought_suggestions_show_nothing_of_a_hostile_row(writer: Writer, name: str) -> None:
    pair, unit = hostile_pair(writer, name)
    assert replayed_on(pair, [discovery(hostile.KINDS)], unit, Budget(epsilon=40), seed=7) <= 1


def test_the_neighbours_are_stored_in_other_types() -> None:
    """Otherwise nothing above would be tested."""
    plain = {name: str(hostile.stored(hostile.rows()).schema.field(name).type) for name in hostile.PLAIN}
    moved: set[str] = set()
    for row in hostile.HOSTILE.values():
        table = hostile.stored(hostile.neighbour(Unit.row(), row))
        moved |= {name for name in hostile.PLAIN if str(table.schema.field(name).type) != plain[name]}
    assert moved == set(hostile.PLAIN)
