"""Bring the reports in; see shares, ranges and means with their intervals, and take the files along."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base.errors import BadFile, DeskError
from core.base.wording import amount
from core.local.estimates import LocalEstimates, estimate_reports
from core.local.kit.questionnaire import plan_in
from core.local.plan import CollectPlan, described
from core.release.collected import collected_files, collected_zip
from dashboard.views.collect import collect_charts
from dashboard.views.common import messages
from dashboard.views.common.wording import percent

KINDS = {
    "estimates.csv": ("Estimates", "text/csv"),
    "synthetic.csv": ("Synthetic records", "text/csv"),
    "certificate.json": ("Certificate", "application/json"),
    "plan.json": ("Plan", "application/json"),
}


def show(plan: CollectPlan | None) -> None:
    under = _plan(plan)
    pasted = st.text_area(
        "Paste reports, one line each", key="collect-pasted", height=120,
        help="Lines as the questionnaire gives them, in any order, alone or as cells of a CSV file.",
    )  # fmt: skip
    file = st.file_uploader("Or bring in a file of reports", type=["csv", "txt"], key="collect-reports")
    liars = st.slider(
        "Share of reports that may be invented, in %", 0.0, 20.0, 0.0, step=0.5, key="collect-liars",
        help="Somebody can send lines that follow no law. Intervals are widened by what this share can do.",
    )  # fmt: skip
    if under is None or not (pasted or file):
        st.info("Reports that you bring in are estimated here.", icon=":material/arrow_upward:")
        return
    try:
        found = _estimated(under, under.id, "\n".join(filter(None, [_text(file), pasted])), liars / 100)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return
    (st.warning if _left_out(found) else st.success)(found.collected.sentence, icon=":material/inbox:")
    if found.collected.people:
        _figures(found)
        _files(found)


def _plan(plan: CollectPlan | None) -> CollectPlan | None:
    """The plan that the reports belong to: the one above, or one from a file."""
    file = st.file_uploader(
        "Plan or questionnaire of the reports", type=["json", "html"], key="collect-plan-file",
        help="Not needed for the plan that is designed above.",
    )  # fmt: skip
    if file is None:
        return plan
    try:
        loaded = plan_in(_text(file))
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    messages.note(f"Reports are read under the plan {loaded.id}: {messages.plain(loaded.title)}.", "public")
    return loaded


@st.cache_resource(scope="session", max_entries=3, show_spinner="Reading and estimating …")
def _estimated(_plan: CollectPlan, plan_id: str, text: str, liars: float) -> LocalEstimates:
    return estimate_reports(_plan, text, liars)


def _text(file: Any) -> str:
    if file is None:
        return ""
    try:
        return str(file.getvalue().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadFile("The file is not UTF-8 text; save it again in UTF-8.") from None


def _left_out(found: LocalEstimates) -> int:
    return found.collected.malformed + found.collected.duplicated + found.collected.foreign


def _figures(found: LocalEstimates) -> None:
    place = st.selectbox(
        "Question to look at", range(len(found.questions)), key="collect-look",
        format_func=lambda at: described(found.plan.questions[at]),
    )  # fmt: skip
    estimate = found.questions[place]
    messages.note(f"{amount(estimate.people)} people answered this question.", "released")
    if estimate.mean is not None:
        width = f"{estimate.mean.low:,.4g} to {estimate.mean.high:,.4g}"
        st.metric("Mean", f"{estimate.mean.value:,.4g}", border=True, help=f"95 % interval: {width}")
        messages.note(f"95 % interval of the mean, without liars: {width}.", "released")
    if estimate.shares is not None:
        figure, alt = collect_charts.shares(found, place)
        st.plotly_chart(figure, alt=alt, key="collect-shares", config={"displaylogo": False})
        messages.note("Whiskers are 95 % intervals, each for its own answer.", "released")
        _range(found, place)
    if found.liars:
        moved = percent(found.lied(place))
        messages.note(
            f"If {percent(found.liars)} of the reports are invented, they can move a figure by up to {moved}.",
            "released",
        )


def _range(found: LocalEstimates, place: int) -> None:
    """The share between two answers of an ordered column."""
    question = found.plan.questions[place]
    attribute = found.plan.domain[question.columns[0]]
    if len(question.columns) > 1 or not attribute.ordered:
        return
    labels = [attribute.label(code) for code in range(attribute.regular)]
    first, last = st.select_slider(
        "Share from … to …", labels, value=(labels[0], labels[len(labels) // 2]), key=f"collect-range-{place}"
    )
    value, low, high = found.share_between(place, labels.index(first), labels.index(last))
    messages.note(f"{percent(value)} of the people, 95 % interval {percent(low)} to {percent(high)}.", "released")


def _files(found: LocalEstimates) -> None:
    with st.container(horizontal=True):
        for name, content in collected_files(found).items():
            label, kind = KINDS[name]
            _download(label, _made(found, name, content), f"collected-{found.plan.id}-{name}", kind)
        _download(
            "Everything (ZIP)",
            _made(found, "zip", lambda: collected_zip(found)),
            f"collected-{found.plan.id}.zip",
            "application/zip",
        )
    messages.note("Local model, ε per person: every file may be given to anyone.", "released")


def _made(found: LocalEstimates, name: str, content: Any) -> bytes:
    """Made once, so that a second click gives the same synthetic records."""
    held = st.session_state.setdefault("collect-files", {})
    key = (id(found), name)
    if key not in held:
        held[key] = content()
    return bytes(held[key])


def _download(label: str, content: bytes, name: str, kind: str) -> None:
    st.download_button(
        label, content, file_name=name, mime=kind, icon=":material/download:", on_click="ignore",
        key=f"collect-file-{label}",
    )  # fmt: skip
