"""One bound of every theorem, at sizes where each direction has an answer."""

from __future__ import annotations

import math

from core.theory import (
    DataPlayerLearns,
    ExponentialMechanism,
    GaussianQueries,
    Halfspaces,
    Intervals,
    LaplaceQueries,
    Net,
    QueryPlayerLearns,
    Rectangles,
    SmallDb,
    SmallDbFat,
    SmallDbLinear,
    SmallDbVc,
    iterative_median,
    iterative_median_any,
    iterative_perceptron,
    iterative_weights,
    online_median,
    online_perceptron,
    online_weights,
)

UNIVERSE = math.log(10.0**17)
QUERIES = math.log(1000)

CASES = {
    "laplace basic": LaplaceQueries(log_queries=QUERIES),
    "laplace advanced": LaplaceQueries(log_queries=QUERIES, delta=1e-9),
    "gaussian": GaussianQueries(log_queries=QUERIES, delta=1e-9),
    "exponential": ExponentialMechanism(log_candidates=QUERIES),
    "net": Net(log_net=50.0, net_alpha=0.01),
    "smalldb": SmallDb(log_universe=UNIVERSE, log_queries=QUERIES),
    "smalldb vc": SmallDbVc(log_universe=UNIVERSE, vc=4),
    "smalldb vc, small universe": SmallDbVc(log_universe=math.log(64), vc=4),
    "smalldb linear": SmallDbLinear(log_universe=UNIVERSE, log_queries=QUERIES),
    "smalldb fat": SmallDbFat(log_universe=UNIVERSE, fat=4),
    "smalldb fat by scale": SmallDbFat(log_universe=UNIVERSE, fat=lambda scale: min(10, 1 / scale)),
    "smalldb fat, paper": SmallDbFat(log_universe=UNIVERSE, fat=4, constant=1.0),
    "weights": iterative_weights(log_universe=UNIVERSE, log_queries=QUERIES),
    "weights delta": iterative_weights(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "weights printed": iterative_weights(log_universe=UNIVERSE, log_queries=QUERIES, printed=True),
    "perceptron": iterative_perceptron(log_universe=math.log(1e4), log_queries=QUERIES, delta=1e-9),
    "perceptron, simple graph": iterative_perceptron(
        log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9, cell_limit=1
    ),
    "median": iterative_median(log_universe=UNIVERSE, log_queries=QUERIES),
    "median delta": iterative_median(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "median any": iterative_median_any(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "online weights": online_weights(log_universe=UNIVERSE, log_queries=QUERIES),
    "online weights delta": online_weights(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "online perceptron": online_perceptron(log_universe=math.log(1e4), log_queries=QUERIES, unevenness=4),
    "online median delta": online_median(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "data player": DataPlayerLearns(log_universe=UNIVERSE, log_queries=QUERIES),
    "data player delta": DataPlayerLearns(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "query player": QueryPlayerLearns(log_universe=UNIVERSE, log_queries=QUERIES),
    "query player delta": QueryPlayerLearns(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "intervals": Intervals(bits=16),
    "unions": Intervals(bits=16, pieces=3),
    "rectangles": Rectangles(bits=(8, 6)),
    "halfspaces, one net": Halfspaces(dimensions=3, bits=8, margin=0.5, project=False),
    "halfspaces": Halfspaces(dimensions=3, bits=8, margin=0.5),
}
