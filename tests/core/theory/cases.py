"""One bound of every theorem, at sizes where each direction has an answer."""

from __future__ import annotations

import math

from core.theory import (
    BothPlayersBound,
    DatabasePlayerBound,
    DataPlayerBound,
    ExponentialBound,
    GaussianBound,
    HalfspacesBound,
    IntervalsBound,
    LaplaceBound,
    NetBound,
    QueryPlayerBound,
    RectanglesBound,
    SmallDbBound,
    SmallDbFatBound,
    SmallDbLinearBound,
    SmallDbVcBound,
    iterative_median,
    iterative_median_any,
    iterative_perceptron,
    iterative_weights,
    online_median,
    online_perceptron,
    online_weights,
)
from core.theory.iterative import iterative_net

UNIVERSE = math.log(10.0**17)
QUERIES = math.log(1000)

CASES = {
    "laplace basic": LaplaceBound(log_queries=QUERIES),
    "laplace advanced": LaplaceBound(log_queries=QUERIES, delta=1e-9),
    "gaussian": GaussianBound(log_queries=QUERIES, delta=1e-9),
    "exponential": ExponentialBound(log_candidates=QUERIES),
    "net": NetBound(log_net=50.0, net_alpha=0.01),
    "smalldb": SmallDbBound(log_universe=UNIVERSE, log_queries=QUERIES),
    "smalldb vc": SmallDbVcBound(log_universe=UNIVERSE, vc=4),
    "smalldb vc, small universe": SmallDbVcBound(log_universe=math.log(64), vc=4),
    "smalldb linear": SmallDbLinearBound(log_universe=UNIVERSE, log_queries=QUERIES),
    "smalldb fat": SmallDbFatBound(log_universe=UNIVERSE, fat=4),
    "smalldb fat by scale": SmallDbFatBound(log_universe=UNIVERSE, fat=lambda scale: min(10, 1 / scale)),
    "smalldb fat, paper": SmallDbFatBound(log_universe=UNIVERSE, fat=4, constant=1.0),
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
    "data player": DataPlayerBound(log_universe=UNIVERSE, log_queries=QUERIES),
    "data player delta": DataPlayerBound(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "query player": QueryPlayerBound(log_universe=UNIVERSE, log_queries=QUERIES),
    "query player delta": QueryPlayerBound(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "both players": BothPlayersBound(log_universe=UNIVERSE, log_queries=QUERIES),
    "both players delta": BothPlayersBound(log_universe=UNIVERSE, log_queries=QUERIES, delta=1e-9),
    "database player": DatabasePlayerBound(log_net=50.0, log_queries=QUERIES, net_alpha=0.01),
    "database player delta": DatabasePlayerBound(log_net=50.0, log_queries=QUERIES, net_alpha=0.01, delta=1e-9),
    "iterative net": iterative_net(log_universe=UNIVERSE, log_queries=QUERIES, net_alpha=0.01),
    "intervals": IntervalsBound(bits=16),
    "unions": IntervalsBound(bits=16, pieces=3),
    "rectangles": RectanglesBound(bits=(8, 6)),
    "halfspaces, one net": HalfspacesBound(dimensions=3, bits=8, margin=0.5, project=False),
    "halfspaces": HalfspacesBound(dimensions=3, bits=8, margin=0.5),
}
