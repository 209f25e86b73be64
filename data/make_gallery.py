"""Writes the other demo tables: one with places, one small, one wide. No row describes a real person.

    python data/make_gallery.py            # writes them and their schemas into data/, byte for byte the same
    python data/make_gallery.py elsewhere  # writes them into the folder elsewhere/

`bike_trips.csv`       rides of a bicycle hire in an invented city, with the places where they began and ended
`school_survey.csv`    answers of the 1,306 pupils of one school: a small table, where noise is felt
`household_panel.csv`  35 answers of 4,000 households: a wide table, with 595 pairs of columns

Only the standard library is used, because its generator gives the same numbers on every platform.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

TRIPS, PUPILS, HOUSEHOLDS = 12_000, 1_306, 4_000
# place: kilometres east and north of the town hall, how far rides spread around it, share of the mornings and evenings
PLACES = {
    "station": (1.2, 0.8, 0.5, 0.34, 0.22),
    "university": (-2.4, 1.9, 0.7, 0.14, 0.24),
    "harbour": (2.9, -3.1, 0.9, 0.12, 0.20),
    "old town": (0.1, 0.0, 0.6, 0.18, 0.24),
    "north estates": (-0.8, 4.1, 1.1, 0.22, 0.10),
}
PARTS = {
    "comfort": ("heating", "damp", "noise", "light", "space", "garden", "parking", "internet"),
    "money": ("rent", "savings", "debts", "holiday", "car", "eating_out", "insurance", "gifts"),
    "health": ("sleep", "exercise", "doctor", "worries", "pain", "diet", "smoking", "alcohol"),
    "town": ("buses", "shops", "parks", "schools", "safety", "neighbours", "council"),
}
"""What the households were asked, on scales from 0 to 4; the answers of one part hang together."""


def trips() -> Iterable[dict[str, Any]]:
    random = Random(20240501)
    for _ in range(TRIPS):
        member = random.random() < 0.7
        hour = _hour(random, member)
        morning = hour < 12
        start, end = (_place(random, at) for at in ((3, 4) if morning else (4, 3)))
        length = math.hypot(start[0] - end[0], start[1] - end[1])
        minutes = max(2, round((length * 4.2 + random.expovariate(1 / 4)) * (1 if member else 1.6)))
        yield {
            "weekday": random.choices(
                ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
                (16, 17, 17, 16, 15, 10, 9) if member else (9,) * 5 + (26, 29),
            )[0],
            "hour": hour,
            "start_east": f"{start[0]:.2f}",
            "start_north": f"{start[1]:.2f}",
            "end_east": f"{end[0]:.2f}",
            "end_north": f"{end[1]:.2f}",
            "minutes": min(minutes, 240),
            "rider": "member" if member else "guest",
        }


def _hour(random: Random, member: bool) -> int:
    while True:
        middle, spread = random.choices(((8, 1.2), (17, 1.6), (13, 3.5)), (4, 4, 2) if member else (1, 2, 6))[0]
        hour = round(random.gauss(middle, spread))
        if 0 <= hour <= 23:
            return hour


def _place(random: Random, share: int) -> tuple[float, float]:
    """A point near one of the places, by its share of the mornings (3) or the evenings (4)."""
    east, north, spread, *_ = random.choices(list(PLACES.values()), [place[share] for place in PLACES.values()])[0]
    return (
        min(max(random.gauss(east, spread), -6), 6),
        min(max(random.gauss(north, spread), -6), 6),
    )


def pupils() -> Iterable[dict[str, Any]]:
    random = Random(20240502)
    for _ in range(PUPILS):
        year = random.choices(range(7, 14), (20, 20, 19, 18, 17, 10, 9))[0]
        able, busy = random.gauss(0, 1), random.gauss(0, 1)
        sport = max(0, min(14, round(4 + 2.5 * busy - 0.3 * (year - 9) + random.gauss(0, 1.5))))
        screen = max(0, min(60, round(16 + 1.6 * (year - 7) - 4 * busy + 5 * random.gauss(0, 1))))
        sleep = max(4.0, min(11.0, 9.4 - 0.24 * (year - 7) - 0.03 * screen + 0.5 * random.gauss(0, 1)))
        yield {
            "year": year,
            "gender": random.choices(("girl", "boy", "other"), (49, 49, 2))[0],
            "travel": random.choices(
                ("walk", "bicycle", "bus", "car"), (30, 20 + 3 * (year - 7), 30, 20 - 2 * (year - 7))
            )[0],
            "sport_hours": sport,
            "screen_hours": screen,
            "sleep_hours": f"{sleep:.1f}",
            "maths": _mark(random, able + 0.08 * (sleep - 8)),
            "language": _mark(random, able + 0.12 * (sleep - 8)),
            "lunch": random.choices(("school", "home", "bought", "none"), (45, 30, 20, 5 + max(0, year - 10)))[0],
            "likes_school": random.choices(("yes", "mostly", "no"), (30 + 8 * able, 50, max(4, 20 - 8 * able)))[0],
        }


def _mark(random: Random, able: float) -> int:
    return max(0, min(15, round(9 + 2.6 * able + 1.4 * random.gauss(0, 1))))


def households() -> Iterable[dict[str, Any]]:
    random = Random(20240503)
    for _ in range(HOUSEHOLDS):
        wealth = random.gauss(0, 1)
        people = random.choices((1, 2, 3, 4, 5, 6), (34, 32, 14, 13, 5, 2))[0]
        parts = {part: 0.55 * wealth + 0.75 * random.gauss(0, 1) for part in PARTS}
        row: dict[str, Any] = {
            "people": people,
            "kind": random.choices(("flat", "house", "other"), (60 - 14 * wealth, 36 + 14 * wealth, 4))[0]
            if abs(wealth) < 2.5
            else ("house" if wealth > 0 else "flat"),
            "owned": str(random.random() < 1 / (1 + math.exp(0.4 - 1.1 * wealth))).lower(),
            "income": round(random.lognormvariate(10.3 + 0.45 * wealth + 0.12 * (people > 1), 0.35)),
        }
        for part, questions in PARTS.items():
            for question in questions:
                score = 2 + 0.9 * parts[part] + 0.8 * random.gauss(0, 1)
                row[question] = max(0, min(4, round(score)))
        yield row


def _scale(name: str, part: str) -> dict[str, Any]:
    return {
        "kind": "integers",
        "name": name,
        "note": f"questionnaire, part {part}: 0 not at all to 4 very much",
        "low": 0,
        "high": 4,
    }


def _kilometres(name: str, what: str) -> dict[str, Any]:
    return {
        "kind": "reals",
        "name": name,
        "note": f"kilometres {what} of the town hall; the city is 12 km wide",
        "low": -6.0,
        "high": 6.0,
        "bins": 24,
        "decimals": 2,
    }


def _list(name: str, values: tuple[Any, ...], note: str) -> dict[str, Any]:
    return {"kind": "categories", "name": name, "note": note, "values": list(values)}


def _whole(name: str, low: int, high: int, note: str, bins: int | None = None) -> dict[str, Any]:
    return {
        "kind": "integers",
        "name": name,
        "note": note,
        "low": low,
        "high": high,
        **({} if bins is None else {"bins": bins}),
    }


TABLES: dict[str, tuple[Callable[[], Iterable[dict[str, Any]]], list[dict[str, Any]]]] = {
    "bike_trips": (
        trips,
        [
            _list("weekday", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), "the days of a week"),
            _whole("hour", 0, 23, "the hours of a day"),
            _kilometres("start_east", "east"),
            _kilometres("start_north", "north"),
            _kilometres("end_east", "east"),
            _kilometres("end_north", "north"),
            _whole("minutes", 0, 239, "terms of the hire: longer rides are charged as four hours", 24),
            _list("rider", ("member", "guest"), "terms of the hire"),
        ],
    ),
    "school_survey": (
        pupils,
        [
            _list("year", tuple(range(7, 14)), "the years of the school"),
            _list("gender", ("girl", "boy", "other"), "questionnaire"),
            _list("travel", ("walk", "bicycle", "bus", "car"), "questionnaire"),
            _whole("sport_hours", 0, 14, "questionnaire: hours a week, 14 stands for more", 5),
            _whole("screen_hours", 0, 59, "questionnaire: hours a week", 6),
            {
                "kind": "reals",
                "name": "sleep_hours",
                "note": "questionnaire: hours a night",
                "low": 4.0,
                "high": 12.0,
                "bins": 8,
                "decimals": 1,
            },
            _whole("maths", 0, 15, "marks of the school, 15 is best", 8),
            _whole("language", 0, 15, "marks of the school, 15 is best", 8),
            _list("lunch", ("school", "home", "bought", "none"), "questionnaire"),
            _list("likes_school", ("yes", "mostly", "no"), "questionnaire"),
        ],
    ),
    "household_panel": (
        households,
        [
            _whole("people", 1, 6, "questionnaire: 6 stands for six and more"),
            _list("kind", ("flat", "house", "other"), "questionnaire"),
            {"kind": "booleans", "name": "owned", "note": "questionnaire"},
            _whole("income", 0, 199_999, "questionnaire: a year, after tax", 20),
            *(_scale(question, part) for part, questions in PARTS.items() for question in questions),
        ],
    ),
}


def write(folder: Path) -> None:
    for name, (rows, columns) in TABLES.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [column["name"] for column in columns], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows())
        schema = json.dumps({"columns": columns}, ensure_ascii=False, indent=1) + "\n"
        (folder / f"{name}.schema.json").write_text(schema, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
