"""The questionnaire of a plan as one HTML file, which needs no network and no library.

The file holds the plan, the whole numbers of every randomiser's law (`recipe`), and the program that draws them with
the browser's secure generator. A content policy inside the file forbids every connection.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from core.base.errors import BadFile, BadParameter
from core.base.odds import most_won, percent_up
from core.local.plan import CollectPlan, described
from core.local.question import LocalQuestion
from core.local.randomisers.hashing import LocalHashing
from core.local.randomisers.hierarchy import Hierarchy
from core.local.randomisers.protocol import Randomiser, Support
from core.local.randomisers.window import Window
from core.schema.domain import Domain

_FOLDER = Path(__file__).parent
MOST_ANSWERS = 100_000
"""Answers of one question: their words are all inside the file."""


def questionnaire(plan: CollectPlan) -> str:
    """The file to give to people."""
    for question in plan.questions:
        if question.values(plan.domain) > MOST_ANSWERS:
            raise BadParameter(
                "questions", f"'{described(question)}' has more than {MOST_ANSWERS:,} answers; use the Python function."
            )
    facts = json.dumps(kit_facts(plan), ensure_ascii=False).replace("<", "\\u003c")
    parts = {"__RANDOMISE__": "randomise.js", "__PAGE__": "page.js"}
    text = (_FOLDER / "questionnaire.html").read_text(encoding="utf-8")
    for mark, name in parts.items():
        text = text.replace(mark, (_FOLDER / name).read_text(encoding="utf-8"))
    return text.replace("__PLAN__", facts)


def plan_in(text: str) -> CollectPlan:
    """The plan of a questionnaire, or of a saved plan."""
    found = re.search(r'<script type="application/json" id="plan">(.*?)</script>', text, re.DOTALL)
    if found is None:
        return CollectPlan.from_json(text)
    try:
        return CollectPlan.from_json(str(json.loads(found.group(1))["plan"]))
    except (ValueError, KeyError, TypeError):
        raise BadFile("This questionnaire was changed; use the original file or its plan.json.") from None


def kit_facts(plan: CollectPlan) -> dict[str, Any]:
    """All that the page knows: words, and whole numbers to draw from."""
    return {
        "id": plan.id,
        "plan": plan.to_json(),
        "title": plan.title,
        "asked": plan.asked,
        "weights": list(plan.weights),
        "promise": deniability(plan),
        "questions": [
            {
                "columns": [_column(plan.domain, name) for name in question.columns],
                "values": question.values(plan.domain),
                "law": randomiser.recipe(),
                "words": in_words(question, randomiser),
            }
            for question, randomiser in zip(plan.questions, plan.randomisers, strict=True)
        ],
    }


def deniability(plan: CollectPlan) -> str:
    """What is promised to the person, in plain words."""
    epsilon = float(plan.epsilon)
    most = percent_up(most_won(epsilon))
    sure = f"at most {most} % sure" if most <= 99 else "nearly sure"
    return (
        "Your answer is changed by chance on your own device before you send anything. Whoever reads your line, and "
        f"thinks two of your possible answers equally likely before, can be {sure} of one of them after "
        f"(ε = {epsilon:g}). You can always say that chance changed it."
    )


def in_words(question: LocalQuestion, randomiser: Randomiser) -> str:
    """How often the truth is behind a report, for a respondent."""
    if isinstance(randomiser, Window):
        near = (
            100
            * randomiser.width
            * float(randomiser.ratio)
            / (randomiser.width * float(randomiser.ratio) + randomiser.values - 1)
        )
        return f"It lies near the true answer for {near:.0f} of 100 people, and anywhere else for the others."
    if isinstance(randomiser, Hierarchy):
        return "It stands for a range that may or may not hold your answer; which ranges, chance has decided."
    assert isinstance(randomiser, Support)
    hit, miss = 100 * float(randomiser.hit), 100 * float(randomiser.miss)
    if randomiser.name in ("hadamard", LocalHashing.name):
        return (
            f"It fits many answers: {hit:.0f} of 100 people send one that fits their own answer, and {miss:.0f} of 100 "
            "one that fits any given other."
        )
    return (
        f"Of 100 people with an answer, {hit:.0f} send it; of 100 people without it, {miss:.0f} send it all the same."
    )


def _column(domain: Domain, name: str) -> dict[str, Any]:
    attribute = domain[name]
    return {"name": name, "note": attribute.note, "labels": [attribute.label(code) for code in range(attribute.size)]}
