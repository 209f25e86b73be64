"""Every accuracy theorem as a function: of the rows, of the accuracy and of epsilon. It imports rooms up to models.

>>> import math
>>> bound = SmallDbBound(log_universe=math.log(10**17), log_queries=math.log(10**6), beta=0.05)
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
from core.theory.games import BothPlayersBound, DatabasePlayerBound, DataPlayerBound, QueryPlayerBound
from core.theory.halfspaces import HalfspacesBound
from core.theory.intervals import IntervalsBound, RectanglesBound
from core.theory.iterative import (
    IterativeBound,
    iterative_median,
    iterative_median_any,
    iterative_perceptron,
    iterative_weights,
)
from core.theory.median import MedianBound, MedianFatBound, MedianWalkBound
from core.theory.online import OnlineBound, online_median, online_perceptron, online_weights
from core.theory.release import ExponentialBound, GaussianBound, LaplaceBound, NetBound
from core.theory.smalldb import SmallDbBound, SmallDbFatBound, SmallDbLinearBound, SmallDbVcBound

bounds: Mapping[str, tuple[Callable[..., Bound], ...]] = MappingProxyType(
    {
        "laplace": (LaplaceBound,),
        "gaussian": (GaussianBound,),
        "smalldb": (SmallDbBound, SmallDbVcBound),
        "smalldb-linear": (SmallDbLinearBound, SmallDbFatBound),
        "net": (NetBound,),
        "iterative-weights": (iterative_weights,),
        "iterative-perceptron": (iterative_perceptron,),
        "iterative-median": (iterative_median, iterative_median_any),
        "online-weights": (online_weights,),
        "online-perceptron": (online_perceptron,),
        "online-median": (online_median,),
        "median-basic": (MedianBound, MedianFatBound),
        "median-walk": (MedianWalkBound,),
        "game-data": (DataPlayerBound,),
        "game-query": (QueryPlayerBound,),
        "game-both": (BothPlayersBound,),
        "game-databases": (DatabasePlayerBound,),
        "interval-search": (IntervalsBound,),
        "rectangle-search": (RectanglesBound,),
        "halfspace-projections": (HalfspacesBound,),
    }
)
"""The theorems behind each mechanism of the papers, by its name in the registry; all take keyword arguments only."""

__all__ = [
    "BothPlayersBound",
    "Bound",
    "DataPlayerBound",
    "DatabasePlayerBound",
    "ExponentialBound",
    "GaussianBound",
    "HalfspacesBound",
    "IntervalsBound",
    "IterativeBound",
    "LaplaceBound",
    "MedianBound",
    "MedianFatBound",
    "MedianWalkBound",
    "NetBound",
    "OnlineBound",
    "QueryPlayerBound",
    "RectanglesBound",
    "SmallDbBound",
    "SmallDbFatBound",
    "SmallDbLinearBound",
    "SmallDbVcBound",
    "bounds",
    "iterative_median",
    "iterative_median_any",
    "iterative_perceptron",
    "iterative_weights",
    "online_median",
    "online_perceptron",
    "online_weights",
]
