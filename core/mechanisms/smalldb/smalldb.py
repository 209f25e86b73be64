"""SmallDB, the general release mechanism (B section 3, N): a small database that answers every question well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.mechanisms.smalldb.candidates import SmallDatabases
from core.mechanisms.smalldb.small import SmallDatabase
from core.models.nets.public_net import rows_for
from core.theory.smalldb import SmallDbVcBound


@dataclass(frozen=True, kw_only=True)
class SmallDb(SmallDatabase):
    """Choose one small database whose worst answer is close to the truth, and scale it to the size of the table.

    **Privacy** epsilon-differentially private: the exponential mechanism over databases of m rows with the score
    -max |m q(x) - N q(y)|, which a unit moves by at most m unit.limit (times the questions' denominator), drawn
    exactly. For the intervals of one column the score is the worst prefix in steps of unit.limit rows, which a unit
    moves by at most one step, over all databases (`kernel/databases`). N is public or measured with a slice of the
    budget. 'search' makes `rounds` choices with epsilon/rounds
    each; with delta > 0 a choice costs at most epsilon^2/8 in zero-concentrated privacy. The score: `kernel/scores.py`.

    **Accuracy** with probability 1 - beta every answer is within
    a n + 2 unit.limit (ln|R| + ln(1/beta))/epsilon rows, where |R| = (|X| + m - 1 over m) databases are compared and m
    rows can be within a: 2|Q| exp(-2 m a^2) < 1, which m = ln|Q|/a^2 fulfils, or B's m = O(d ln(1/a)/a^2) of a class of
    VC dimension d where that is less. Paths: n/m + 2 unit.limit + 4 unit.limit (ln|R| + ln(1/beta))/epsilon for
    intervals, as the best database of m rows has every prefix within n/(2 m). A measured N adds its noise. Nothing is
    promised for a random net or a search
    beyond being nearly as good as the best database they look at.

    **Runtime** O(|R| |Q| min(m, |X|)) for at most 10^7 databases; paths O(|X| m) some tens of times, 28 s for 2^16
    cells and 2,150 rows; O(members |Q|) and O(rounds proposals |Q|) otherwise.

    Theorem: N pages 3 and 4; B theorem 3.1; McSherry and Talwar 2007.
    """

    name: ClassVar[str] = "smalldb"
    title: ClassVar[str] = "Small database, chosen for its worst answer"
    known_as: ClassVar[tuple[str, ...]] = ("SmallDB", "BLR", "exponential mechanism")
    prefer: ClassVar[str] = "Choose it to release a few records that answer many questions on a tiny schema."
    for_study: ClassVar[bool] = True
    exact_total: ClassVar[bool] = False

    def _enough(self, candidates: SmallDatabases, accuracy: float) -> int:
        rows = rows_for(accuracy, candidates.log_questions)
        if len(self.queries) > 1 or candidates.grid > 1 or candidates.cells < 2:
            return rows
        dimension = self.queries[0].vc(candidates.domain).high
        if dimension > candidates.cells:
            return rows
        universe = SmallDbVcBound(log_universe=candidates.log_cells, vc=int(dimension))
        # The theorem spends half of its error on the size of the database.
        return min(rows, universe.size(2 * accuracy))
