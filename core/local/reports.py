"""Reports: short lines of text that people send, written by a program for them, and read back from anywhere.

A line is `rd1.PLAN.NUMBER.ANSWERS.CHECK`: the plan's id, a random number that tells lines apart, `question:report` for
every answered question, and a checksum against slips of copying. Nothing in it depends on an answer except the reports.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.base.arrays import IntArray
from core.base.errors import BadFile, BadParameter, printable
from core.base.wording import plural
from core.local.plan import CollectPlan
from core.local.randomisers.protocol import ReportArray
from core.privacy.noise import Noise

MARK = "rd1"
LINE = re.compile(rf"{MARK}\.([0-9a-f]{{12}})\.([0-9a-f]{{16}})\.([0-9a-f:,]{{3,100000}})\.([0-9a-f]{{8}})(?![0-9a-f])")
HEADERS = {"report", "reports", "line"}
LONGEST = 2_000_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class CollectedReports:
    """What people sent: the reports to every question, and what had to be left out."""

    plan: CollectPlan
    reports: tuple[ReportArray, ...]
    """One array per question of the plan."""
    people: int
    """Lines that count."""
    malformed: int = 0
    duplicated: int = 0
    foreign: int = 0

    @property
    def sentence(self) -> str:
        """What was left out, and why."""
        parts = [
            (self.malformed, "cannot be read"),
            (self.duplicated, "were sent before"),
            (self.foreign, "belong to another plan"),
        ]
        left_out = [f"{plural(count, 'line')} {why if count > 1 else _single(why)}" for count, why in parts if count]
        kept = f"{plural(self.people, 'report')} {'counts' if self.people == 1 else 'count'}."
        return kept if not left_out else f"{kept} Left out: {', '.join(left_out)}."


def _single(why: str) -> str:
    return why.replace("were sent", "was sent").replace("belong ", "belongs ")


def respond(plan: CollectPlan, answers: Mapping[str, Any]) -> str:
    """The line that one person may send, from their answers by column; nothing else leaves this function.

    Answers to questions that are not drawn have no part in it. A value outside the schema goes where the schema says.
    """
    return respond_all(plan, pd.DataFrame({name: [value] for name, value in answers.items()}))[0]


def respond_all(plan: CollectPlan, answers: pd.DataFrame) -> list[str]:
    """One line per row of a table whose rows are different people's answers, in another, random order.

    Rows in their own order beside the lines would show who was asked what.
    """
    wanted = {name for question in plan.questions for name in question.columns}
    for name in sorted(wanted):
        if name not in answers.columns:
            raise BadParameter("answers", f"have no column '{printable(name)}'.")
    codes = {name: plan.domain[name].encode(answers[name])[0].astype(np.int64) for name in wanted}
    noise = Noise()
    drawn = _assigned(plan, len(answers), noise)
    pieces: list[list[str]] = [[] for _ in range(len(answers))]
    for place, (question, randomiser) in enumerate(zip(plan.questions, plan.randomisers, strict=True)):
        people = drawn[place]
        own = question.code(plan.domain, {name: codes[name][people] for name in question.columns})
        for person, report in zip(people.tolist(), randomiser.randomise(own, noise), strict=True):
            pieces[person].append(f"{place}:{randomiser.write(report)}")
    numbers = noise.keys(len(answers)).tolist()
    lines = [_line(plan.id, number, ",".join(piece)) for number, piece in zip(numbers, pieces, strict=True)]
    return [line for _, line in sorted(zip(numbers, lines, strict=True))]


def randomise_codes(plan: CollectPlan, codes: Mapping[str, IntArray]) -> CollectedReports:
    """The same without text, for many people at once: codes by column in, reports by question out."""
    people = len(next(iter(codes.values())))
    noise = Noise()
    drawn = _assigned(plan, people, noise)
    reports = []
    for question, randomiser, chosen in zip(plan.questions, plan.randomisers, drawn, strict=True):
        own = question.code(plan.domain, {name: codes[name][chosen] for name in question.columns})
        reports.append(randomiser.randomise(own, noise))
    return CollectedReports(plan=plan, reports=tuple(reports), people=people)


def read_reports(plan: CollectPlan, text: str | Iterable[str]) -> CollectedReports:
    """Reports from lines of text or the cells of a CSV file; what is no report of this plan is counted and left out."""
    if isinstance(text, str) and len(text) > LONGEST:
        raise BadFile("These are more reports than can be read at once; bring them in as several files.")
    read: list[list[Any]] = [[] for _ in plan.questions]
    seen: set[str] = set()
    people = malformed = duplicated = foreign = 0
    for line in _lines(text):
        found = LINE.search(line)
        if found is None or _check(found.group(0).rpartition(".")[0]) != found.group(4):
            malformed += 1
        elif found.group(1) != plan.id:
            foreign += 1
        elif found.group(2) in seen:
            duplicated += 1
        elif (pieces := _pieces(plan, found.group(3))) is None:
            malformed += 1
        else:
            seen.add(found.group(2))
            people += 1
            for place, report in pieces:
                read[place].append(report)
    gathered = tuple(one.gather(reports) for one, reports in zip(plan.randomisers, read, strict=True))
    return CollectedReports(
        plan=plan, reports=gathered, people=people, malformed=malformed, duplicated=duplicated, foreign=foreign
    )


def _assigned(plan: CollectPlan, people: int, noise: Noise) -> list[IntArray]:
    """Who answers which question; drawn before any answer is looked at."""
    if plan.asked == "all":
        return [np.arange(people)] * len(plan.questions)
    ends = np.cumsum(plan.weights)
    drawn = np.searchsorted(ends, noise.below(int(ends[-1]), people), side="right")
    return [np.flatnonzero(drawn == place) for place in range(len(plan.questions))]


def _line(plan: str, number: int, answers: str) -> str:
    text = f"{MARK}.{plan}.{number:016x}.{answers}"
    return f"{text}.{_check(text)}"


def _check(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _lines(text: str | Iterable[str]) -> Iterator[str]:
    """Lines that hold something; the name of a column at the top does not count."""
    for place, line in enumerate(text.splitlines() if isinstance(text, str) else text):
        bare = line.strip().strip('"').strip()
        if bare and not (place == 0 and bare.lower().lstrip("\ufeff") in HEADERS):
            yield bare


def _pieces(plan: CollectPlan, answers: str) -> list[tuple[int, Any]] | None:
    """The reports of one line, or None where nobody can have sent them under this plan."""
    found = []
    for piece in answers.split(","):
        place, _, report = piece.partition(":")
        if not place.isdigit() or len(place) > 3 or int(place) >= len(plan.questions):
            return None
        try:
            found.append((int(place), plan.randomisers[int(place)].read(report)))
        except ValueError:
            return None
    expected = 1 if plan.asked == "one" else len(plan.questions)
    return found if len(found) == expected == len({place for place, _ in found}) else None
