"""How rich a class of questions is, and what that implies for the number of rows."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from core.base.errors import DeskError
from core.base.wording import amount
from core.formulas.formula_class import formula_class
from core.queries.conjunctions import Conjunctions
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.protocol import Dimension, QueryClass
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Domain
from core.theory.rows_needed import RowsNeeded, rows_needed
from dashboard.door import access
from dashboard.views.common import messages, state

ALPHAS, EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2), (0.1, 0.5, 1.0, 3.0, 10.0)
FACTS = ("smoker", "diabetes", "hypertension")
MILLION = 1_000_000
EXAMPLE = "age >= 65\nage < 20\nsmoker\nsmoker and age >= 65"


def show() -> None:
    st.write(
        "A class of questions can be released to error α from a table whose rows grow with its Vapnik-Chervonenkis "
        "dimension, the most records that its questions can split in every way, and not with the number of questions "
        "(Blum, Ligett and Roth 2008, theorem 3.1)."
    )
    left, right = st.columns(2)
    alpha = left.select_slider("Error (α), as a share of the rows", ALPHAS, 0.05, key="limits-alpha")
    epsilon = right.select_slider("Epsilon (ε)", EPSILONS, 1.0, key="limits-dimension-epsilon")
    domain, classes, whose = _classes()
    dimensions = pd.DataFrame([_dimension_line(one, domain) for one in classes])
    st.table(dimensions, hide_index=True, alt="Number of questions and dimension of each class.")
    needed = pd.DataFrame([_rows_line(one, domain, alpha, epsilon) for one in classes])
    st.table(needed, hide_index=True, alt="Rows that each theorem asks for, by class.")
    messages.note(
        f"{whose}; records over all {len(domain.names)} columns, 95 % of the runs, for the worst table.",
        "public",
    )
    _own(domain, alpha, epsilon)


def _own(domain: Domain, alpha: float, epsilon: float) -> None:
    """A class that is typed, one formula per line."""
    typed = st.text_area(
        "A class of your own, one formula per line", EXAMPLE, key="limits-formulas", max_chars=20_000,
        help="As on the page Ask: `age >= 65 and region in {Harbour, Lakes}`.",
    )  # fmt: skip
    try:
        own = formula_class(typed.splitlines(), domain)
        found = _needed(domain, math.log(own.formulas), own.vc, alpha, epsilon)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return
    messages.note(
        f"{own.formulas:,} formulas over {own.cells:,} combinations of {messages.plain(', '.join(own.columns))}: VC "
        f"dimension {_shown(own.vc)} ({own.vc.why}); {amount(found.fewest)} rows are enough.",
        "public",
    )


def _classes() -> tuple[Domain, tuple[QueryClass, ...], str]:
    """Those of the curator's plan that consist of predicates, which the theorems are about; else examples."""
    here = state.session()
    if access.role() == "curator" and here.table is not None and here.table in here.planned:
        domain = state.desk().table(here.table).domain
        planned = here.planned[here.table].queries
        predicates = tuple(one for one in planned if not isinstance(one, Lipschitz) and one.denominator(domain) == 1)
        if predicates:
            return domain, predicates, "The classes of the plan under work that ask for rows with a property"
    examples = (
        Marginals(order=1), Marginals(order=2), Intervals(column="age"), Unions(column="age"),
        Rectangles(columns=("age", "bmi")), Halfspaces(columns=("age", "bmi", "systolic_bp")),
        Conjunctions(columns=FACTS), Parities(columns=FACTS),
    )  # fmt: skip
    return Domain.from_json(state.demo_schema()), examples, "Examples over the schema of the demo"


def _dimension_line(one: QueryClass, domain: Domain) -> dict[str, str]:
    dimension, log_queries = one.vc(domain), one.log_size(domain)
    questions = amount(round(math.exp(log_queries))) if log_queries < 500 else "more than can be listed"
    return {
        "Class": messages.plain(one.sentence(domain)),
        "Questions": questions,
        "VC dimension": _shown(dimension),
        "Because": messages.plain(dimension.why),
    }


def _rows_line(one: QueryClass, domain: Domain, alpha: float, epsilon: float) -> dict[str, str]:
    found = _needed(domain, one.log_size(domain), one.vc(domain), alpha, epsilon)
    return {
        "Class": messages.plain(one.sentence(domain)),
        "Rows by SmallDB": _rows(found.smalldb),
        "by the net": _rows(found.net),
        "by VC": _rows(found.vc),
        "by fat-shattering": _rows(found.fat),
    }


def _needed(domain: Domain, log_queries: float, vc: Dimension, alpha: float, epsilon: float) -> RowsNeeded:
    universe = math.log(domain.cells(domain.names))
    return rows_needed(log_universe=universe, log_queries=log_queries, vc=vc, alpha=alpha, epsilon=epsilon)


def _shown(dimension: Dimension) -> str:
    return f"{dimension.high:g}" if dimension.exact else f"{dimension.low:g} to {dimension.high:g}"


def _rows(rows: int | None) -> str:
    """In a few letters, so that four of them fit a phone.

    >>> _rows(7_348_652), _rows(110)
    ('7.35 million', '110')
    """
    if rows is None:
        return "needs a finite class"
    return f"{rows / MILLION:,.3g} million" if MILLION <= rows < 1_000 * MILLION else amount(rows)
