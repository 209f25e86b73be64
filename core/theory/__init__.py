"""Every accuracy theorem as a function: of the rows, of the accuracy and of epsilon. It imports rooms up to models.

>>> import math
>>> bound = SmallDb(log_universe=math.log(10**17), log_queries=math.log(10**6), beta=0.05)
>>> bound.rows(0.1, 1.0)
8652818
>>> round(bound.error(8_652_818, 1.0), 6)
0.1
>>> round(bound.epsilon(0.1, 8_652_818), 6)
1.0
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from core.theory.bound import Bound
from core.theory.games import DataPlayerLearns, QueryPlayerLearns
from core.theory.halfspaces import Halfspaces
from core.theory.intervals import Intervals, Rectangles
from core.theory.iterative import (
    Iterative,
    iterative_median,
    iterative_median_any,
    iterative_perceptron,
    iterative_weights,
)
from core.theory.median import MedianMechanism, MedianWalk
from core.theory.online import Online, online_median, online_perceptron, online_weights
from core.theory.release import ExponentialMechanism, GaussianQueries, LaplaceQueries, Net
from core.theory.smalldb import SmallDb, SmallDbFat, SmallDbLinear, SmallDbVc

bounds: Mapping[str, tuple[Callable[..., Bound], ...]] = MappingProxyType({
    "laplace": (LaplaceQueries,),
    "gaussian": (GaussianQueries,),
    "smalldb": (SmallDb, SmallDbVc),
    "smalldb-linear": (SmallDbLinear, SmallDbFat),
    "net": (Net,),
    "iterative-weights": (iterative_weights,),
    "iterative-perceptron": (iterative_perceptron,),
    "iterative-median": (iterative_median, iterative_median_any),
    "online-weights": (online_weights,),
    "online-perceptron": (online_perceptron,),
    "online-median": (online_median,),
    "median-basic": (MedianMechanism,),
    "median-walk": (MedianWalk,),
    "game-data": (DataPlayerLearns,),
    "game-query": (QueryPlayerLearns,),
    "interval-search": (Intervals,),
    "rectangle-search": (Rectangles,),
    "halfspace-projections": (Halfspaces,),
})
"""The theorems behind each mechanism of the papers, by its name in the registry; all take keyword arguments only."""

__all__ = [
    "Bound",
    "DataPlayerLearns",
    "ExponentialMechanism",
    "GaussianQueries",
    "Halfspaces",
    "Intervals",
    "Iterative",
    "LaplaceQueries",
    "MedianMechanism",
    "MedianWalk",
    "Net",
    "Online",
    "QueryPlayerLearns",
    "Rectangles",
    "SmallDb",
    "SmallDbFat",
    "SmallDbLinear",
    "SmallDbVc",
    "bounds",
    "iterative_median",
    "iterative_median_any",
    "iterative_perceptron",
    "iterative_weights",
    "online_median",
    "online_perceptron",
    "online_weights",
]
