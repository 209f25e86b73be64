"""What mutants change in memory, one thing each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from pytest import MonkeyPatch

from core.kernel.asked import Change
from core.kernel.compared import GRID, Gap
from core.kernel.databases.prefix_databases import PrefixDatabases
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Measurement, NoiseLevel
from core.kernel.searches.crowding import Crowding
from core.kernel.searches.uneven import Unevenness
from core.kernel.sparse_vector import AboveThreshold
from core.kernel.tables import Blocks, Distances, Marginal
from core.ledger.ledger import Ledger
from core.mechanisms.direct import histogram
from core.mechanisms.kit.portions import Portion
from core.mechanisms.online import online_tree
from core.mechanisms.online import plan as online_plan
from core.mechanisms.online.themes import Themes
from core.privacy import cube, noise, samplers
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table import contribution_limit


def scaled(method: str, parameter: str, factor: Fraction) -> Callable[[MonkeyPatch], None]:
    real = getattr(Noise, method)

    def broken(self: Noise, values: Any, **options: Any) -> Any:
        return real(self, values, **{**options, parameter: options[parameter] * factor})

    return lambda patch: patch.setattr(Noise, method, broken)


def sensitivity_halved(patch: MonkeyPatch) -> None:
    patch.setattr(Marginal, "change", lambda self, unit: Change(unit.limit, unit.limit**2))


def no_margin(patch: MonkeyPatch) -> None:
    patch.setattr(cube, "margin", lambda count: 0)


def distance_of_half_a_replacement(patch: MonkeyPatch) -> None:
    patch.setattr(Distances, "furthest", lambda self, unit: unit.limit)


def rate_of_one_look(patch: MonkeyPatch) -> None:
    patch.setattr(Crowding, "rate", lambda self, epsilon, unit: epsilon / unit.l1)


def no_bias(patch: MonkeyPatch) -> None:
    patch.setattr(Crowding, "bias", lambda self, rate: 0)


def unevenness_of_mean_weight(patch: MonkeyPatch) -> None:
    def changed(self: Unevenness, unit: Unit) -> Change:
        moved = int(self.weights.mean()) * unit.l1
        return Change(moved, moved**2)

    patch.setattr(Unevenness, "change", changed)


def unevenness_of_all_parts(patch: MonkeyPatch) -> None:
    """Every two neighbouring parts compared: a row lies in up to 2^d such pairs."""

    def counted(self: Unevenness, counts: Any) -> Any:
        parts = Blocks(self.columns, self.begins).counts(counts)
        return sum(np.abs(np.diff(parts, axis=axis)).sum() for axis in range(parts.ndim)) * self.weights.max()

    patch.setattr(Unevenness, "counts", counted)


def compared_at_half(patch: MonkeyPatch) -> None:
    real = AboveThreshold.of

    def halved(epsilon: Fraction, *, sensitivity: int, cutoff: int = 1) -> AboveThreshold:
        return real(epsilon, sensitivity=sensitivity // 2, cutoff=cutoff)

    patch.setattr(AboveThreshold, "of", halved)
    patch.setattr(online_plan, "lay_out", online_plan.lay_out.__wrapped__)


def gap_at_half(patch: MonkeyPatch) -> None:
    """The bound in the kernel itself: the plan and the kernel then believe the same wrong number."""
    patch.setattr(Gap, "sensitivity", classmethod(lambda cls, unit: unit.limit * GRID // 2))
    patch.setattr(online_plan, "lay_out", online_plan.lay_out.__wrapped__)


def synopsis_not_declared(patch: MonkeyPatch) -> None:
    cost = online_plan.OnlinePlan.cost.fget
    patch.setattr(online_plan.OnlinePlan, "cost", property(lambda self: cost(replace(self, synopsis=None))))


def synopsis_spent_twice(patch: MonkeyPatch) -> None:
    real = online_tree._spending
    patch.setattr(
        online_tree, "_spending", lambda plan, unit: replace(real(plan, unit), whole=2 * plan.synopsis.epsilon)
    )


def themes_never_end(patch: MonkeyPatch) -> None:
    """Every question about a theme measures its table once more."""
    patch.setattr(Themes, "measured", lambda self, columns: self)


def whole_rate(patch: MonkeyPatch) -> None:
    patch.setattr(noise, "_rate_within", lambda epsilon, span: 2 * Fraction(epsilon) / span)


def databases_at_twice_the_rate(patch: MonkeyPatch) -> None:
    patch.setattr(PrefixDatabases, "sensitivity", lambda self, unit: Fraction(1, 2))


def always_the_best(patch: MonkeyPatch) -> None:
    patch.setattr(samplers, "select", lambda scores, rate: int(np.argmax(scores)))


def in_sparse(part: type, method: str, broken: Any) -> Callable[[MonkeyPatch], None]:
    return lambda patch: patch.setattr(part, method, broken)


def budget_unchecked(patch: MonkeyPatch) -> None:
    """The file refuses too much by itself, so that its own constraint has to go as well."""

    def spend(connection: Any, dataset: Any, amounts: Any, priced: Any) -> int:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        paid = amounts["pure"], dataset.fingerprint
        connection.execute("UPDATE account SET spent = spent + ? WHERE fingerprint = ?", paid)
        return int(amounts["pure"])

    patch.setattr(Ledger, "_spend", staticmethod(spend))


def fixed_seed(patch: MonkeyPatch) -> None:
    patch.setattr(samplers, "words", lambda count: np.random.default_rng(7).integers(0, 2**64, count, dtype=np.uint64))


def float_noise(patch: MonkeyPatch) -> None:
    def laplace(self: Noise, values: Any, *, epsilon: Fraction, sensitivity: int) -> Any:
        return values + np.random.default_rng().laplace(0, float(sensitivity / epsilon), np.shape(values))

    patch.setattr(Noise, "laplace", laplace)


def one_draw_for_all(patch: MonkeyPatch) -> None:
    real = Noise.laplace

    def laplace(self: Noise, values: Any, **options: Any) -> Any:
        return values + real(self, np.zeros(1, dtype=np.int64), **options)[0]

    patch.setattr(Noise, "laplace", laplace)


def limit_ignored(patch: MonkeyPatch) -> None:
    patch.setattr(contribution_limit, "keep_smallest", lambda owners, keys, limit: np.flatnonzero(owners >= 0))


def empty_tables_without_noise(patch: MonkeyPatch) -> None:
    real = Kernel.measure

    def hasty(self: Kernel, asked: Any, event: Any) -> Measurement:
        table = asked.counts(self._Kernel__counts)  # type: ignore[attr-defined]
        if not table.any():
            return Measurement(asked, table, NoiseLevel.of(asked, event, self.unit))
        return real(self, asked, event)

    patch.setattr(Kernel, "measure", hasty)


def undeclared_rows(patch: MonkeyPatch) -> None:
    def cost(self: Any, domain: Any, unit: Unit) -> Any:
        return histogram.price(self._portions(domain, unit)[:1])

    patch.setattr(histogram.NoisyHistogram, "cost", cost)


def budget_spent_twice(patch: MonkeyPatch) -> None:
    def divide(shares: Any, budget: Budget, kind: Any) -> Any:
        return tuple(Portion(columns, kind(budget.epsilon)) for columns in shares)

    patch.setattr(histogram, "divide", divide)
