"""One line per query class and mechanism, and all randomisers; forms, tests and documentation follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from types import MappingProxyType
from typing import Any

from core.base.errors import BadParameter, Refused, Unknown, printable
from core.decisions.covers.class_cover import ClassCover
from core.decisions.covers.cover_size import CoverSize
from core.decisions.covers.degree_order import DegreeOrder
from core.decisions.covers.set_buckets import SetBuckets
from core.decisions.covers.set_choices import SetChoices
from core.decisions.covers.set_orders import SetOrders
from core.decisions.covers.set_presence import SetPresence
from core.decisions.covers.set_ranges import SetRanges
from core.decisions.covers.vertex_order import RandomVertexOrder
from core.decisions.cuts.min_cut import MinCut
from core.decisions.cuts.padded_cut import PaddedCut
from core.decisions.decision import Decision
from core.decisions.k_means import KMeans
from core.decisions.k_means_records import KMeansRecords
from core.decisions.learner import BestRule
from core.decisions.projects import PublicProjects
from core.decisions.projects_exact import ProjectsExact
from core.decisions.sites.facility_superset import FacilitySuperset
from core.decisions.sites.k_median_counts import KMedianCounts
from core.decisions.sites.k_median_exact import KMedianExact
from core.decisions.sites.k_median_search import KMedianSearch
from core.kernel.query import trust_class
from core.local.kinds import KINDS
from core.local.randomisers.protocol import Randomiser
from core.mechanisms.direct.gaussian import GaussianTables
from core.mechanisms.direct.histogram import NoisyHistogram
from core.mechanisms.direct.laplace import LaplaceTables
from core.mechanisms.games.game_both import GameBoth
from core.mechanisms.games.game_data import GameData
from core.mechanisms.games.game_databases import GameDatabases
from core.mechanisms.games.game_query import GameQuery
from core.mechanisms.halfspaces.halfspace_fit import HalfspaceFit
from core.mechanisms.halfspaces.halfspace_projections import HalfspaceProjections
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.kit.interactive import Interactive
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.median.median_basic import MedianBasic
from core.mechanisms.median.median_walk import MedianWalk
from core.mechanisms.online.online_histogram import OnlineHistogram
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.mechanisms.online.online_median import OnlineMedian
from core.mechanisms.online.online_perceptron import OnlinePerceptron
from core.mechanisms.online.online_tree import OnlineTree
from core.mechanisms.online.online_weights import OnlineWeights
from core.mechanisms.ranges.interval_search import IntervalSearch
from core.mechanisms.ranges.interval_tree import IntervalTree
from core.mechanisms.ranges.rectangle_search import RectangleSearch
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.mechanisms.smalldb.net import Net
from core.mechanisms.smalldb.smalldb import SmallDb
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.mechanisms.tree.tree import Tree
from core.privacy.budget import Budget
from core.queries.conjunctions import Conjunctions
from core.queries.counting import Counting
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.statistics import Statistics
from core.queries.unions import Unions

query_classes: Mapping[str, type[QueryClass]] = MappingProxyType(
    {
        "marginals": Marginals,
        "intervals": Intervals,
        "statistics": Statistics,
        "rectangles": Rectangles,
        "halfspaces": Halfspaces,
        "conjunctions": Conjunctions,
        "parities": Parities,
        "unions": Unions,
        "counting": Counting,
        "linear": Linear,
        "lipschitz": Lipschitz,
    }
)
for _kind in query_classes.values():
    # The kernel hands private counts to these and to no other class.
    trust_class(_kind, linear=_kind is not Lipschitz)

offline: Mapping[str, type[Mechanism]] = MappingProxyType(
    {
        "tree": Tree,
        "gaussian": GaussianTables,
        "laplace": LaplaceTables,
        "histogram": NoisyHistogram,
        "iterative-weights": IterativeWeights,
        "iterative-perceptron": IterativePerceptron,
        "iterative-median": IterativeMedian,
        "interval-tree": IntervalTree,
        "interval-search": IntervalSearch,
        "rectangle-tree": RectangleTree,
        "rectangle-search": RectangleSearch,
        "halfspace-fit": HalfspaceFit,
        "halfspace-projections": HalfspaceProjections,
        "smalldb": SmallDb,
        "smalldb-linear": SmallDbLinear,
        "net": Net,
        "game-data": GameData,
        "game-query": GameQuery,
        "game-both": GameBoth,
        "game-databases": GameDatabases,
    }
)

interactive: Mapping[str, type[Interactive]] = MappingProxyType(
    {
        "online-tree": OnlineTree,
        "online-weights": OnlineWeights,
        "online-histogram": OnlineHistogram,
        "online-perceptron": OnlinePerceptron,
        "online-median": OnlineMedian,
        "online-laplace": OnlineLaplace,
        "median-basic": MedianBasic,
        "median-walk": MedianWalk,
    }
)

randomisers: Mapping[str, type[Randomiser]] = KINDS

mechanisms: Mapping[str, type[Mechanism] | type[Interactive]] = MappingProxyType({**offline, **interactive})

decisions: Mapping[str, type[Decision]] = MappingProxyType(
    {
        "k-median-counts": KMedianCounts,
        "k-median-exact": KMedianExact,
        "k-median-search": KMedianSearch,
        "facility-superset": FacilitySuperset,
        "k-means": KMeans,
        "k-means-records": KMeansRecords,
        "min-cut": MinCut,
        "min-cut-padded": PaddedCut,
        "vertex-cover-degrees": DegreeOrder,
        "vertex-cover-order": RandomVertexOrder,
        "vertex-cover-classes": ClassCover,
        "vertex-cover-size": CoverSize,
        "set-cover-presence": SetPresence,
        "set-cover-orders": SetOrders,
        "set-cover-buckets": SetBuckets,
        "set-cover-choices": SetChoices,
        "set-cover-ranges": SetRanges,
        "projects": PublicProjects,
        "projects-exact": ProjectsExact,
        "learner": BestRule,
    }
)
"""The first of each problem is the one to take where none is named."""

problems: Mapping[str, str] = MappingProxyType(
    {
        "k-median": "Where to open k sites (k-median)",
        "facility-superset": "Which sites may open where opening has a price (facility location)",
        "k-means": "Where the middles of k groups are (k-means)",
        "min-cut": "Where a network splits (smallest cut)",
        "vertex-cover": "Which ends cover all edges of a network (vertex cover)",
        "vertex-cover-size": "How many vertices cover all edges (size of a vertex cover)",
        "set-cover": "Which sets cover all elements (set cover)",
        "public-projects": "Which k projects to carry out (public projects)",
        "rule": "Which rule explains a yes or no (private learner)",
    }
)
"""What is decided, in words."""

impossible: Mapping[str, str] = MappingProxyType(
    {
        "facility-location": "Facility location: whoever names the facilities privately opens about n/20 of them where "
        "√n would do (T corollary 48), so it is not offered; 'facility-superset' lists sites that may open without "
        "telling which do, 'k-median' opens a fixed number.",
    }
)
"""Problems that cannot be decided privately with use, and why."""


def query_to_json(query: QueryClass) -> dict[str, Any]:
    return {"class": query.name, **asdict(query)}  # type: ignore[call-overload]


def query_from_json(data: Mapping[str, Any]) -> QueryClass:
    options = dict(data)
    return _build(query_classes, "query class", str(options.pop("class", "")), options)


def mechanism_from(name: str, queries: Sequence[QueryClass], budget: Budget, options: Mapping[str, Any]) -> Mechanism:
    """The named mechanism for these queries and this budget, or a sentence that names what is wrong."""
    if not queries:
        raise BadParameter("queries", "choose at least one query class.")
    return _build(offline, "mechanism", name, {"queries": tuple(queries), "budget": budget, **options})


def interactive_from(name: str, budget: Budget, options: Mapping[str, Any]) -> Interactive:
    """The named interactive mechanism with this budget, or a sentence that names what is wrong."""
    return _build(interactive, "interactive mechanism", name, {"budget": budget, **options})


def decision_for(problem: str) -> str:
    """The decision to take for a problem, or the one that is named itself."""
    if problem in impossible:
        raise Refused(impossible[problem])
    if problem in decisions:
        return problem
    for name, kind in decisions.items():
        if kind.problem == problem:
            return name
    known = ", ".join(dict.fromkeys(kind.problem for kind in decisions.values()))
    raise Unknown(f"There is no decision '{printable(problem)}'; choose one of: {known}.")


def decision_from(name: str, budget: Budget, public: Mapping[str, Any]) -> Decision:
    """The named decision with its public part and this budget, or a sentence that names what is wrong."""
    decision: Decision = _build(decisions, "decision", name, {"budget": budget, **public})
    return decision


def _build(registered: Mapping[str, Any], noun: str, name: str, options: Mapping[str, Any]) -> Any:
    if name not in registered:
        raise Unknown(f"There is no {noun} '{printable(name)}'; choose one of: {', '.join(registered)}.")
    known = {field.name: field for field in fields(registered[name])}
    for option in options:
        if option not in known:
            raise BadParameter(option, f"is not an option of {noun} '{name}'.")
    for option, field in known.items():
        if option not in options and field.default is MISSING:
            raise BadParameter(option, f"is missing; {noun} '{name}' needs it.")
    return registered[name](**options)
