"""SmallDB for linear questions on a table of unknown size (F section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base.options import option
from core.mechanisms.smalldb.candidates import SmallDatabases
from core.mechanisms.smalldb.small import SmallDatabase
from core.models.nets.public_net import rows_for
from core.theory.smalldb import SmallDbFatBound

LARGEST_CONSTANT = 1e6


@dataclass(frozen=True, kw_only=True)
class SmallDbLinear(SmallDatabase):
    """Choose the small database whose shares are closest to the table's, then scale it by a measured number of rows.

    **Privacy** epsilon-differentially private: the exponential mechanism over databases y of m rows with the score
    -max |m q(x) - |x| q(y)|, drawn exactly. The exact private |x| stays inside the score, which a unit moves by at most
    m unit.limit (times the questions' denominator): an added row raises m q(x) by at most m and |x| q(y) by at most m,
    and only the difference counts. The paper allows for 1 + 1/m <= 2 rows where 1 is enough; the proof, for both kinds
    of neighbours, is in `kernel/scores.py`. The number of rows is measured with a slice of the budget unless it is
    public.

    **Accuracy** with probability 1 - beta every answer is within
    a n + 2 unit.limit (ln|R| + ln(1/beta))/epsilon rows plus the noise of the measured number of rows, where |R|
    databases of m rows are compared. m is the least of two that are proven enough: ln(2|Q|)/(2 a^2) for a finite class
    (remark 1) and Pollard's inequality with the fat-shattering dimension at a/32. With a `constant` c it is the
    paper's c (d ln^2(1/a) + ln 2)/a^2, d at scale a/5; the paper leaves c open, so that is no promise.

    **Runtime** as `smalldb`.

    Theorem: F theorem 5 with corollary 1 and remark 1.
    """

    name: ClassVar[str] = "smalldb-linear"
    title: ClassVar[str] = "Small database for weighted sums, scaled to the table"
    known_as: ClassVar[tuple[str, ...]] = ("SmallDB", "exponential mechanism")
    prefer: ClassVar[str] = "Choose it for weighted questions on a tiny schema when the number of rows is private."
    for_study: ClassVar[bool] = True
    exact_total: ClassVar[bool] = True

    constant: float = option(
        "real",
        "Constant",
        default=0.0,
        low=0.0,
        high=LARGEST_CONSTANT,
        help="Factor of the paper's formula for the rows that an accuracy needs; 0 takes a number with a proof.",
    )

    def _enough(self, candidates: SmallDatabases, accuracy: float) -> int:
        finite = rows_for(accuracy, candidates.log_questions)
        if len(self.queries) > 1 or candidates.cells < 2:
            return finite
        query, domain = self.queries[0], candidates.domain
        theorem = SmallDbFatBound(
            log_universe=candidates.log_cells,
            fat=lambda scale: query.fat(domain, scale).high,
            constant=self.constant or None,
        )
        # The theorem spends half of its error on the size of the database.
        rows = theorem.size(2 * accuracy)
        return max(1, rows) if self.constant else min(finite, rows)
