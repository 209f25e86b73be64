"""What is recommended: mechanisms that can serve, by the error of the chosen questions on the same public stand-ins.

Stand-ins are of different kinds, and a mechanism that was tried on more of them than another would be judged by other
tables. So places rest on ratios: of the errors of two mechanisms on the same tables, averaged as logarithms;
of those that are close, with the one of them that was tried most, because ratios to one that is far off tell little.
A kind of table says little of the next, so further trials go to those that were on the fewest kinds. A model is often
far off, so what was only modelled counts by the upper end of its band; what might be the best all the same is tried
once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.base.wording import rows
from core.mechanisms.kit.protocol import Mechanism
from core.planning.simulation.expected_error import Figure, log_errors
from core.planning.simulation.fitted import modelled
from core.planning.simulation.kept_trials import Figures
from core.planning.simulation.stand_ins import StandIns

CLOSE, CLOSE_RUNS = 1.4, 12
"""Those within this factor of the best are told apart by so many trials, where they are quick enough."""
CLOSE_SECONDS = 1.2
"""What the trials of one of them may take in all, by the model."""
AT_ONCE = 2.0
"""Seconds of a trial, by the model, that every mechanism gets; one that takes longer only if it may be the best."""
ONCE_SECONDS, BESIDE_SECONDS = 10.0, 6.0
"""What the trials of those may take together, what the model thinks best first, and one where others were tried:
`tree` on 35 columns takes 5. With the quickest first, two kinds of plain noise took the time of `tree`, which erred a
third of what they did. A model of seconds is off by three at times, and the time is then missing for those that were
tried. What is left out is tried in the background."""
KIND_SECONDS = 8.0
"""What all trials together may take while there are mechanisms that were not on a table of every kind. Of figures from
one trial every fourth was off by more than two on tables that were kept aside, of those from six every seventeenth."""
STUDY_SECONDS = 2.5
"""What trials of all mechanisms for study may take together; the model speaks of those that get none."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A mechanism with its figure and why it stands where it stands, in one sentence."""

    name: str
    figure: Figure
    reason: str


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The best first; those that are there to be studied apart."""

    offered: tuple[Ranked, ...]
    studied: tuple[Ranked, ...]


def rank(candidates: Mapping[str, Mechanism], stand_ins: StandIns, figures: Figures) -> Ranking:
    """Mechanisms that can serve, ranked by the mean error of the chosen questions.

    Where only mechanisms for study can serve, they are offered.
    """
    studied = {name: each for name, each in candidates.items() if each.for_study}
    offered = {name: each for name, each in candidates.items() if name not in studied}
    if not offered:
        offered, studied = studied, {}
    costs = {name: modelled(each, stand_ins).cost for name, each in offered.items()}
    found = {
        name: figures.quick(each, stand_ins, None if costs[name] <= AT_ONCE else 0) for name, each in offered.items()
    }
    found |= _contenders(offered, found, costs, stand_ins, figures)
    tried = {name: figure.mean for name, figure in found.items() if figure.how == "simulated"}
    left = KIND_SECONDS - sum(costs[name] * found[name].runs for name in tried)
    found |= _on_all_kinds(offered, tried, costs, left, stand_ins, figures)
    for name in _close(_standing(offered, found, stand_ins, figures)):
        runs = min(CLOSE_RUNS, int(CLOSE_SECONDS / costs[name]))
        found[name] = figures.quick(offered[name], stand_ins, max(runs, found[name].runs))
    apart = _studied(studied, stand_ins, figures)
    errors = _standing(candidates, found | apart, stand_ins, figures)
    return Ranking(offered=_in_order(found, errors), studied=_in_order(apart, errors, beside=found))


def _contenders(
    offered: Mapping[str, Mechanism],
    found: Mapping[str, Figure],
    costs: Mapping[str, float],
    stand_ins: StandIns,
    figures: Figures,
) -> dict[str, Figure]:
    """What was only modelled and might be the best, by the lower end of its band, is tried once if that is quick.

    In the order of the model's errors: those that it thinks worse are seldom worth a trial then, and never take the
    time of a better one.
    """
    least = min((figure.mean for figure in found.values() if figure.how == "simulated"), default=float("inf"))
    tried: dict[str, Figure] = {}
    left, longest = ONCE_SECONDS, BESIDE_SECONDS if math.isfinite(least) else ONCE_SECONDS
    for name in sorted(found, key=lambda name: found[name].mean):
        if found[name].how == "modelled" and found[name].low < least and costs[name] <= min(left, longest):
            tried[name] = figures.quick(offered[name], stand_ins, 1)
            least = min(least, tried[name].mean)
            left -= costs[name]
    return tried


def _standing(
    candidates: Mapping[str, Mechanism], found: Mapping[str, Figure], stand_ins: StandIns, figures: Figures
) -> dict[str, float]:
    """Mean errors of those that were tried."""
    tried = {
        name: log_errors(figures.trials(candidates[name], stand_ins))
        for name, figure in found.items()
        if figure.how == "simulated"
    }
    return errors_on_shared_tables(tried) if tried else {}


def errors_on_shared_tables(tried: Mapping[str, Floats]) -> dict[str, float]:
    """Mean errors, from the logarithms of what each was seen to err on the first few of the same tables."""
    errors = _beside(tried, max(tried.values(), key=len))
    close = [tried[name] for name in _close(errors)]
    return _beside(tried, max(close, key=len)) if close else errors


def _beside(tried: Mapping[str, Floats], reference: Floats) -> dict[str, float]:
    """Errors as if each had been on all tables of the reference, by its ratio to it on those that they share."""
    shared = {name: min(own.size, reference.size) for name, own in tried.items()}
    level = float(reference.mean())
    return {
        name: float(np.exp(level + np.mean(own[: shared[name]] - reference[: shared[name]])))
        for name, own in tried.items()
    }


def _close(errors: Mapping[str, float]) -> list[str]:
    least = min(errors.values(), default=0.0)
    close = [name for name, error in errors.items() if error <= CLOSE * least]
    return close if len(close) > 1 else []


def _on_all_kinds(
    candidates: Mapping[str, Mechanism],
    order: Mapping[str, float],
    costs: Mapping[str, float],
    left: float,
    stand_ins: StandIns,
    figures: Figures,
) -> dict[str, Figure]:
    """Further trials while seconds are left: one at a time for the one with the fewest, those first in order first."""
    runs = {name: len(figures.trials(candidates[name], stand_ins)) for name in order}
    while able := [name for name in runs if runs[name] < stand_ins.kinds and costs[name] <= left]:
        least = min(able, key=lambda name: (runs[name], order[name]))
        runs[least] += 1
        left -= costs[least]
    return {name: figures.quick(candidates[name], stand_ins, runs[name]) for name in order}


def _studied(studied: Mapping[str, Mechanism], stand_ins: StandIns, figures: Figures) -> dict[str, Figure]:
    costs = {name: modelled(each, stand_ins).cost for name, each in studied.items()}
    return _on_all_kinds(studied, costs, costs, STUDY_SECONDS, stand_ins, figures)


def _in_order(
    found: Mapping[str, Figure], errors: Mapping[str, float], beside: Mapping[str, Figure] | None = None
) -> tuple[Ranked, ...]:
    """Those that were tried by their errors, the others by the upper ends of their bands; with reasons."""
    sure = {name: errors.get(name, figure.high) for name, figure in {**found, **(beside or {})}.items()}
    best = min(beside or found, key=sure.__getitem__, default=None)
    names = sorted(found, key=sure.__getitem__)
    return tuple(_ranked(name, found[name], best, errors) for name in names)


def _ranked(name: str, figure: Figure, best: str | None, errors: Mapping[str, float]) -> Ranked:
    error = f"±{rows(figure.mean)} on average"
    if best is None or name not in errors or best not in errors:
        by = "" if name in errors else ", by a model: trying it takes too long"
        reason = f"{error[0].upper()}{error[1:]}{by}."
    elif name == best:
        reason = f"The smallest error of those that were tried: {error}."
    else:
        times = errors[name] / max(errors[best], 1e-9)
        worse = f"{times:.2g} times" if times < 100 else "over 100 times"
        reason = f"{error[0].upper()}{error[1:]}; {worse} the smallest error on the same tables."
    return Ranked(name=name, figure=figure, reason=reason)
