"""Errors at several budgets without simulating each: where nothing was simulated, the model's slope is used."""

from __future__ import annotations

from dataclasses import replace

from core.mechanisms.kit.protocol import Mechanism
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.fitted import modelled
from core.planning.simulation.kept_trials import Figures
from core.planning.simulation.stand_ins import StandIns


def along(known: Mechanism, other: Mechanism, stand_ins: StandIns, figures: Figures) -> Figure:
    """The figure of the same mechanism with another budget, from that of a known one: kept trials, else the model's
    figure times what the known one was off the model by."""
    found = figures.kept(other, stand_ins)
    if found is not None:
        return found
    here, there = modelled(known, stand_ins), modelled(other, stand_ins)
    told = figures.quick(known, stand_ins)
    most = float(stand_ins.rows)
    scale = there.mean / here.mean, there.worst / here.worst
    return replace(
        told,
        mean=min(told.mean * scale[0], most),
        low=min(told.low * scale[0], most),
        high=min(told.high * scale[0], most),
        worst=min(told.worst * scale[1], most),
        about=f"{told.about}, at another epsilon by a model",
        runs=0,
        how="modelled",
    )
