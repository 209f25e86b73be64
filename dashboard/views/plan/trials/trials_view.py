"""What the trials on public tables showed: where the errors of the plan will be, and how sure the figures are."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from core.planning.simulation.stand_ins import StandIns
from core.plans.plan import Plan
from dashboard.views.common import messages
from dashboard.views.common.state import PageState
from dashboard.views.plan import error_map_chart
from dashboard.views.plan.offers import Offers
from dashboard.views.plan.trials import public_trials
from dashboard.views.plan.trials.public_trials import Refinement
from dashboard.views.plan.trials.watcher import Awaited


def show(here: PageState, desk: Desk, plan: Plan, priced: Offers, stand_ins: StandIns) -> None:
    """Start what makes the figures better, once for each choice, and show what is known by now."""
    if not public_trials.seconds():
        return
    trials = public_trials.service()
    wanted = (plan.id, stand_ins.key)
    if here.refining is None or here.refining[0] != wanted:
        if here.refining is not None:
            trials.drop(here.refining[1])
        others = [offer.plan for offer in priced.found if offer.plan.id != plan.id]
        work = Refinement(plans=[plan, *others], stand_ins=stand_ins, desk=desk)
        here.refining = (wanted, work.id)
        trials.start(work)
    if trials.progress(here.refining[1]) is not None:
        here.awaited.append(_awaited(here, here.refining[1]))
    found = trials.map(plan, stand_ins)
    if found is None:
        return
    st.subheader("Where the errors will be")
    figure, alt = error_map_chart.heat(found)
    st.plotly_chart(figure, alt=alt, key=f"map-{plan.id}", config={"displaylogo": False})
    messages.note(
        f"One run of this plan on {stand_ins.sentence}: rows that would have to move for a table to be right, of one "
        "column on the diagonal, of two elsewhere, asked for or not.",
        "public",
    )
    if len(found.classes) > 1:
        figure, alt = error_map_chart.by_class(found)
        st.plotly_chart(figure, alt=alt, key=f"classes-{plan.id}", config={"displayModeBar": False})
        messages.note("The errors of each chosen class in the same run.", "public")


def _awaited(here: PageState, work: str) -> Awaited:
    """When the trials have ended the page shows what they found."""

    def better() -> None:
        here.refined += 1

    def stage() -> str | None:
        progress = public_trials.service().progress(work)
        return None if progress is None else progress.stage

    return Awaited(ended=lambda: public_trials.service().progress(work) is None, then=better, stage=stage)
