"""Ways to break privacy, one line each, and the checks that must notice them.

A check passes on the code as it is. A mutant changes one thing in memory, and then its check must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from pytest import MonkeyPatch

from core.base.errors import BadParameter, Undeclared
from core.kernel.sparse_vector import AboveThreshold, OpenRun
from tests.privacy.mutants import breaks, broken_sparse, checks
from tests.privacy.mutants.pipeline_mutants import PIPELINE, rows_public


@dataclass(frozen=True)
class Mutant:
    name: str
    check: Callable[[], None]
    breaks: Callable[[MonkeyPatch], None]
    killed_by: tuple[type[Exception], ...] = (AssertionError, Undeclared)
    """What its check must raise: what it asserts fails, or the kernel itself refuses to go on."""


MUTANTS = (
    Mutant("Laplace scale x 0.95", checks.check_laplace_law, breaks.scaled("laplace", "epsilon", Fraction(100, 95))),
    Mutant(
        "Gaussian sigma x 0.95", checks.check_gaussian_law, breaks.scaled("gaussian", "rho", Fraction(100, 95) ** 2)
    ),
    Mutant("size of a cube x 0.95", checks.check_cube_law, breaks.scaled("cube", "epsilon", Fraction(100, 95))),
    Mutant("a cube without its margin", checks.check_wide_cubes, breaks.no_margin),
    Mutant("distances of half a replacement", checks.check_distances, breaks.distance_of_half_a_replacement),
    Mutant("sensitivity halved", checks.check_replaced_rows, breaks.sensitivity_halved),
    # A mechanism's own mistake: the kernel knows what a unit changes and compares nothing.
    Mutant(
        "sensitivity of comparisons halved", checks.check_session, breaks.compared_at_half, killed_by=(BadParameter,)
    ),
    Mutant(
        "bound of a comparison halved in the kernel",
        checks.check_session,
        breaks.gap_at_half,
        killed_by=(AssertionError,),
    ),
    Mutant(
        "a session does not declare its synthetic table", checks.check_synthetic_session, breaks.synopsis_not_declared
    ),
    Mutant("a session spends its synthetic table twice", checks.check_synthetic_session, breaks.synopsis_spent_twice),
    Mutant("a theme is measured again and again", checks.check_synthetic_session, breaks.themes_never_end),
    Mutant("boxes are halved at the rate of one look", checks.check_halving, breaks.rate_of_one_look),
    Mutant("boxes are halved without a bias for depth", checks.check_deep_halving, breaks.no_bias),
    Mutant("unevenness: the mean weight, not the largest", checks.check_unevenness, breaks.unevenness_of_mean_weight),
    Mutant("unevenness: neighbouring parts compared", checks.check_unevenness, breaks.unevenness_of_all_parts),
    Mutant("missing factor 2 in selection", checks.check_selection_law, breaks.whole_rate),
    Mutant("databases: missing factor 2", checks.check_database_law, breaks.databases_at_twice_the_rate),
    Mutant("selection always takes the best", checks.check_selection_law, breaks.always_the_best),
    Mutant(
        "sparse vector: no noise on the compared value",
        checks.check_sparse,
        breaks.in_sparse(AboveThreshold, "above", broken_sparse.no_query_noise),
    ),
    Mutant(
        "sparse vector: noise not scaled with the cutoff",
        checks.check_sparse,
        breaks.in_sparse(AboveThreshold, "above", broken_sparse.not_scaled_with_cutoff),
    ),
    Mutant(
        "sparse vector: the compared value is released",
        checks.check_compared_values,
        breaks.in_sparse(OpenRun, "test", broken_sparse.releases_the_compared_value),
    ),
    Mutant(
        "sparse vector: never stops", checks.check_sparse, breaks.in_sparse(OpenRun, "test", broken_sparse.never_stops)
    ),
    Mutant(
        "sparse vector: half the noise",
        checks.check_sparse,
        breaks.in_sparse(AboveThreshold, "above", broken_sparse.half_the_noise),
    ),
    Mutant(
        "sparse vector: threshold without noise",
        checks.check_sparse,
        breaks.in_sparse(AboveThreshold, "offset", broken_sparse.threshold_as_it_is),
    ),
    Mutant(
        "sparse vector: threshold noise a fifth too small",
        checks.check_sparse,
        breaks.in_sparse(AboveThreshold, "offset", broken_sparse.threshold_too_sharp),
    ),
    Mutant(
        "threshold noise not refreshed",
        checks.check_runs_apart,
        breaks.in_sparse(OpenRun, "test", broken_sparse.keeps_its_offset),
    ),
    Mutant("cut-off removed", checks.check_session, breaks.in_sparse(OpenRun, "test", broken_sparse.never_stops)),
    Mutant("budget check skipped", checks.check_ledger, breaks.budget_unchecked),
    Mutant("budget spent twice", checks.check_offline, breaks.budget_spent_twice),
    Mutant("cost leaves out the number of rows", checks.check_offline, breaks.undeclared_rows),
    Mutant("fixed seed", checks.check_fresh_draws, breaks.fixed_seed),
    Mutant("float noise", checks.check_whole_numbers, breaks.float_noise),
    Mutant("one draw for all cells", checks.check_independent_cells, breaks.one_draw_for_all),
    Mutant("n treated as public", checks.check_offline, rows_public),
    Mutant("empty tables without noise", checks.check_offline, breaks.empty_tables_without_noise),
    Mutant("contribution limit ignored", checks.check_contributions, breaks.limit_ignored),
    *(Mutant(*parts) for parts in PIPELINE),
)
