"""Public sites and people's places: what every question of where to open sites shares."""

from __future__ import annotations

from dataclasses import dataclass

from core.base import limits
from core.base.options import check_options, option
from core.decisions.decision import Decided, MeasuredCost
from core.decisions.sites.places import METRICS, STEPS, Places, places, read_distances, read_sites
from core.kernel.query import Query
from core.privacy.budget import Budget
from core.schema.domain import Domain
from core.table.counts import Counts


@dataclass(frozen=True, kw_only=True)
class SiteProblem:
    """Sites, where people are, and how far both are apart."""

    budget: Budget
    sites: tuple[tuple[str, float, float] | tuple[str], ...] = option(
        "lines",
        "Sites that may be opened",
        choices=("site", "x", "y"),
        help="Public: a name and two coordinates each; the name alone where distances are listed.",
    )
    columns: tuple[str, ...] = option(
        "columns",
        "Where people are",
        low=1,
        high=2,
        start=2,
        first="places",
        help="Two columns of numbers (x and y, or latitude and longitude), or one column whose values name sites, or "
        "areas from which distances are listed.",
    )
    metric: str = option("choice", "Distance", default=METRICS[0], choices=METRICS)
    distances: tuple[tuple[str, str, float], ...] = option(
        "lines",
        "Table of distances",
        default=(),
        choices=("place", "site", "distance"),
        help="Public, and only where coordinates do not tell: from every value of the column to every site.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "distances", read_distances(self.distances))
        object.__setattr__(self, "sites", read_sites(self.sites, bool(self.distances)))
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def _places(self, domain: Domain) -> Places:
        return places(self.sites, self.columns, self.metric, self.distances, domain)

    def _asked(self, place: Places, chosen: tuple[int, ...], domain: Domain) -> Query:
        """People's distances from the nearest of some sites; one step is `place.step`."""
        # The weights of a question are parts of a power of two, which STEPS is.
        return Query(
            columns=self.columns, weights=place.costs(chosen).reshape(domain.shape(self.columns)), denominator=STEPS
        )

    def _distances(self, place: Places, chosen: tuple[int, ...], counts: Counts) -> float:
        """The same on a PUBLIC table, exactly."""
        return float(counts.marginal(self.columns).ravel() @ place.costs(chosen)) * place.step

    def _named(self, place: Places, decided: Decided) -> tuple[int, ...]:
        return tuple(place.names.index(name) for name in decided.facts["open"])

    def _opened(
        self, place: Places, chosen: tuple[int, ...], estimate: MeasuredCost, sentence: str = "Open {}."
    ) -> Decided:
        names = tuple(place.names[site] for site in sorted(chosen))
        spots = [dict(zip(("x", "y"), site[1:], strict=False)) for site in self.sites]
        lines = tuple(
            {"site": name, **spot, "open": "yes" if name in names else "no"}
            for name, spot in zip(place.names, spots, strict=True)
        )
        return Decided(
            sentence=sentence.format(", ".join(names)),
            lines=lines,
            facts={"open": list(names), "metric": "listed" if self.distances else self.metric},
            estimate=estimate,
        )
