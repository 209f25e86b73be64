"""Release Desk's engine: private tables in, differentially private releases out."""

from core.desk.desk import Desk
from core.formulas.question import question
from core.local.design import plan_collection
from core.local.estimates import estimate_reports
from core.local.kit.questionnaire import questionnaire
from core.local.plan import CollectPlan
from core.local.question import LocalQuestion
from core.local.reports import respond, respond_all
from core.plans.plan import Plan
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.counting import Counting
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.statistics import Statistics
from core.queries.unions import Unions
from core.release.certificate import Certificate
from core.release.copies.combining import Combined, combine
from core.release.release import Release
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from core.sessions.session import Session

__all__ = [
    "Booleans",
    "Budget",
    "Categories",
    "Certificate",
    "CollectPlan",
    "Combined",
    "Conjunctions",
    "Counting",
    "Dates",
    "Desk",
    "DeskTable",
    "Domain",
    "Halfspaces",
    "Integers",
    "Intervals",
    "Linear",
    "Lipschitz",
    "LocalQuestion",
    "Marginals",
    "Parities",
    "Plan",
    "Reals",
    "Rectangles",
    "Release",
    "Session",
    "Statistics",
    "Unions",
    "Unit",
    "combine",
    "estimate_reports",
    "plan_collection",
    "question",
    "questionnaire",
    "respond",
    "respond_all",
]
