"""The local model on a census table (48,842 people, epsilon 1 per person): total variation of estimated shares.

Single columns are asked of everybody; 'all columns' and 'pairs' come from one collection in which each person answers
one question. Peers: the best of multi-freq-ldpy's protocols, and a study with subset selection, unary encoding and
square waves, recorded. Ages and weights of the sample are declared smooth, as a curator would; hours of work are not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations
from typing import Literal

import numpy as np

from core.local.design import plan_collection
from core.local.estimates import LocalEstimates
from core.local.question import LocalQuestion
from core.local.reports import randomise_codes
from core.schema.domain import Categories, Domain
from core.table.stand_in import StandIn
from tests.bench.kit.line import Line
from tests.bench.kit.real_data import adult, adult_folder

SMOOTH = {"age", "fnlwgt"}
RUNS, RUNS_SMOOTH, RUNS_TOGETHER = 100, 20, 5
"""Of a count of answers, of a curve, which takes longer, and of all columns together."""
PEERS = {
    "race": {"multi-freq-ldpy": 0.0134, "study": 0.0127},
    "workclass": {"multi-freq-ldpy": 0.0218, "study": 0.0230},
    "education-num": {"multi-freq-ldpy": 0.0497, "study": 0.0472},
    "native-country": {"multi-freq-ldpy": 0.0570, "study": 0.0601},
    "age": {"multi-freq-ldpy": 0.2027, "study": 0.0492},
    "hours-per-week": {"study": 0.159},
}
TOGETHER = {"tv1": 0.165, "tv2": 0.325}
"""Of the study: all 14 columns with one question per person, and all 91 pairs by products of them."""
MANY, COLUMNS, VALUES = 1_000_000, 20, 16


def run() -> Iterator[Line]:
    folder = adult_folder()
    if folder is not None:
        table = adult(folder)
        for column, peers in PEERS.items():
            ours = _single(table, column)
            for peer, theirs in peers.items():
                yield Line("local", f"{column} eps=1", "tv1", ours, peer, theirs, "recorded")
        for metric, ours in _together(table).items():
            yield Line(
                "local", "all columns eps=1, one question each", metric, ours, "study", TOGETHER[metric], "recorded"
            )
    for asked in ("one", "all"):
        words = f"{MANY:,} people, {asked} of {COLUMNS} columns, {VALUES} values"
        yield Line("local", words, "cpu_s", _seconds(asked))


def _codes(table: StandIn) -> dict[str, np.ndarray]:
    return {name: table.codes[:, place].astype(np.int64) for place, name in enumerate(table.domain.names)}


def _single(table: StandIn, column: str) -> float:
    codes = _codes(table)[column]
    question = LocalQuestion(columns=(column,), smooth=column in SMOOTH)
    plan = plan_collection(table.domain, epsilon=1, people=len(codes), questions=[question])
    runs = RUNS_SMOOTH if column in SMOOTH else RUNS
    truth = np.bincount(codes, minlength=table.domain[column].size) / len(codes)
    found = [LocalEstimates(randomise_codes(plan, {column: codes})).questions[0].shares for _ in range(runs)]
    return float(np.mean([0.5 * np.abs(shares - truth).sum() for shares in found]))


def _together(table: StandIn) -> dict[str, float]:
    """Mean total variation over all columns, and over all pairs of columns."""
    domain, codes = table.domain, _codes(table)
    people = len(table.codes)
    questions = [LocalQuestion(columns=(name,), smooth=name in SMOOTH) for name in domain.names]
    plan = plan_collection(domain, epsilon=1, people=people, questions=questions)
    single, double = [], []
    for _ in range(RUNS_TOGETHER):
        found = LocalEstimates(randomise_codes(plan, codes))
        for columns in [*((name,) for name in domain.names), *combinations(domain.names, 2)]:
            truth = np.zeros(domain.shape(columns))
            np.add.at(truth, tuple(codes[name] for name in columns), 1 / people)
            off = 0.5 * np.abs(found.model.marginal(columns) / found.model.total - truth).sum()
            (single if len(columns) == 1 else double).append(off)
    return {"tv1": float(np.mean(single)), "tv2": float(np.mean(double))}


def _seconds(asked: Literal["one", "all"]) -> float:
    """CPU seconds to randomise and estimate the answers of a million people, to one of twenty questions or to all."""
    domain = Domain(tuple(Categories(name=f"c{place}", values=tuple(range(VALUES))) for place in range(COLUMNS)))
    generator = np.random.default_rng()
    codes = {name: generator.integers(0, VALUES, MANY) for name in domain.names}
    plan = plan_collection(domain, epsilon=1, people=MANY, asked=asked)
    start = time.process_time()
    _ = LocalEstimates(randomise_codes(plan, codes)).questions
    return time.process_time() - start
