"""Release Desk's engine: private tables in, differentially private releases out."""

from core.desk import Desk, HeldTable
from core.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from core.plan import Plan
from core.privacy import Budget, Unit
from core.queries.marginals import Marginals
from core.release import Certificate, Release

__all__ = [
    "Booleans",
    "Budget",
    "Categories",
    "Certificate",
    "Dates",
    "Desk",
    "Domain",
    "HeldTable",
    "Integers",
    "Marginals",
    "Plan",
    "Reals",
    "Release",
    "Unit",
]
