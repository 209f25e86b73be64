"""Writes the demo table `clinic_visits.csv`: two years of invented visits to the clinics of an invented city.

No row describes a real person. The table has what makes real ones difficult: people who come more than once, health
outcomes that depend on each other, a skewed money column with many exact zeros, empty cells, and a few typing errors
outside the bounds that the public schema declares.

    python data/make_demo.py            # writes data/clinic_visits.csv again, byte for byte the same
    python data/make_demo.py elsewhere  # writes elsewhere/clinic_visits.csv

Only the standard library is used, patient by patient, because its generator gives the same numbers on every platform.
"""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

SEED = 20240101
PATIENTS = 14_000
FIRST_DAY = date(2024, 1, 1)
DAYS = 731
COLUMNS = (
    "patient_id",
    "visit_date",
    "region",
    "age",
    "sex",
    "insurance",
    "smoker",
    "bmi",
    "systolic_bp",
    "diabetes",
    "hypertension",
    "charge",
)

# district: share of patients, mean age of its adults, wealth from -1 (poor) to 1 (rich)
REGIONS = {
    "Harbour": (0.20, 43, -0.6),
    "Old Town": (0.17, 52, 0.3),
    "Hillside": (0.14, 49, 0.9),
    "Riverside": (0.14, 45, 0.1),
    "Campus": (0.11, 30, -0.1),
    "Lakes": (0.10, 61, 0.7),
    "Works": (0.09, 46, -0.8),
    "Moorland": (0.05, 64, -0.3),
}


@dataclass(frozen=True, kw_only=True)
class Patient:
    """What stays the same from visit to visit; a condition counts from its `since` day on."""

    id: str
    born: date
    region: str
    sex: str
    insurance: str
    smoker: bool
    bmi: float
    diabetes_since: float
    hypertension_since: float
    visit_days: tuple[int, ...]


def chance(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def draw_age(random: Random, adult_mean: float) -> float:
    if random.random() < 0.16:
        return 18 * random.random()
    while True:
        age = random.gauss(adult_mean, 18)
        if 18 <= age <= 103:
            return age


def draw_insurance(random: Random, age: float, wealth: float) -> str:
    if age >= 66 and random.random() < 0.86:
        return "senior"
    if random.random() < chance(-1.3 + 1.5 * wealth + 0.012 * (age - 45)):
        return "private"
    uninsured = chance(-2.2 - 1.0 * wealth) if 18 <= age < 66 else 0.01
    return "none" if random.random() < uninsured else "public"


def draw_body_mass(random: Random, age: float, wealth: float) -> float:
    if age < 18:
        return max(12.5, random.gauss(15.2 + 0.38 * age, 1.9))
    middle = 26.4 - 0.9 * wealth - 0.0016 * (age - 55) ** 2
    return max(15.0, middle + 4.2 * random.gauss(0, 1) + 1.5 * random.expovariate(1))


def draw_onset(random: Random, risk: float) -> float:
    """The day a condition is known from, counted from the first day of the table; never, for those without it."""
    return random.uniform(-4000, DAYS) if random.random() < risk else math.inf


def draw_visit_days(random: Random, age: float, conditions: int) -> tuple[int, ...]:
    again = min(0.85, 0.39 + 0.0024 * age + 0.11 * conditions)
    count = 1
    while count < 8 and random.random() < again:
        count += 1
    days: set[int] = set()
    while len(days) < count:
        day = random.randrange(DAYS)
        winter = 0.5 + 0.5 * math.cos(2 * math.pi * day / 365.25)
        if random.random() < 0.65 + 0.35 * winter:
            days.add(day)
    return tuple(sorted(days))


def draw_patient(random: Random, number: int) -> Patient:
    region = random.choices(list(REGIONS), weights=[share for share, _, _ in REGIONS.values()])[0]
    _, adult_mean, wealth = REGIONS[region]
    age = draw_age(random, adult_mean)
    smoker = age >= 16 and random.random() < chance(-1.2 - 0.7 * wealth - 0.00045 * (age - 42) ** 2)
    bmi = draw_body_mass(random, age, wealth)
    diabetes = draw_onset(random, chance(-6.3 + 0.052 * age + 0.16 * (bmi - 25) + 0.45 * smoker))
    linked = 1.1 * math.isfinite(diabetes)
    hypertension = draw_onset(random, chance(-5.2 + 0.068 * age + 0.10 * (bmi - 25) + 0.5 * smoker + linked))
    return Patient(
        id=f"P{number}",
        born=FIRST_DAY - timedelta(days=int(365.25 * age)),
        region=region,
        sex=random.choices(["female", "male", "other"], weights=[0.535, 0.457, 0.008])[0],
        insurance=draw_insurance(random, age, wealth),
        smoker=smoker,
        bmi=bmi,
        diabetes_since=diabetes,
        hypertension_since=hypertension,
        visit_days=draw_visit_days(random, age, math.isfinite(diabetes) + math.isfinite(hypertension)),
    )


def draw_charge(random: Random, age: float, insurance: str, conditions: int) -> float:
    free = {"none": 0.02, "private": 0.06, "public": 0.20, "senior": 0.26}[insurance]
    if random.random() < free:
        return 0.0
    generosity = {"none": -0.25, "private": 0.45, "public": 0.0, "senior": 0.1}[insurance]
    return random.lognormvariate(4.5 + 0.011 * age + 0.42 * conditions + generosity, 0.9)


def draw_visit(random: Random, patient: Patient, day: int) -> dict[str, str]:
    when = FIRST_DAY + timedelta(days=day)
    age = (when - patient.born).days / 365.25
    diabetes, hypertension = day >= patient.diabetes_since, day >= patient.hypertension_since
    bmi = max(12.0, patient.bmi + random.gauss(0, 0.5))
    expected = 97 + 0.36 * min(age, 75) + 0.55 * (bmi - 22) + 15 * hypertension + 3 * patient.smoker
    pressure = round(random.gauss(expected, 11))
    charge = draw_charge(random, age, patient.insurance, diabetes + hypertension)
    return {
        "patient_id": patient.id,
        "visit_date": when.isoformat(),
        "region": patient.region,
        "age": str(int(age)),
        "sex": patient.sex,
        "insurance": patient.insurance,
        "smoker": str(patient.smoker).lower(),
        "bmi": f"{bmi:.1f}",
        "systolic_bp": str(pressure),
        "diabetes": str(diabetes).lower(),
        "hypertension": str(hypertension).lower(),
        "charge": f"{charge:.2f}",
    }


def blemish(random: Random, row: dict[str, str]) -> dict[str, str]:
    """What the front desk forgets, mistypes, or writes although the code book has no such entry."""
    mistakes = (
        (0.030, "bmi", ""),
        (0.015, "smoker", ""),
        (0.004, "region", "Out of town"),
        (0.001, "bmi", row["bmi"].replace(".", "")),
        (0.001, "systolic_bp", row["systolic_bp"][:-1]),
        (0.0005, "age", "-1"),
    )
    changed = dict(row)
    for frequency, column, cell in mistakes:
        if random.random() < frequency:
            changed[column] = cell
    return changed


def rows() -> list[dict[str, str]]:
    """All visits, in order of date."""
    random = Random(SEED)
    numbers = random.sample(range(10_000, 100_000), PATIENTS)
    patients = [draw_patient(random, number) for number in numbers]
    visits = [blemish(random, draw_visit(random, patient, day)) for patient in patients for day in patient.visit_days]
    return sorted(visits, key=lambda row: (row["visit_date"], row["patient_id"]))


def write(folder: Path) -> Path:
    path = folder / "clinic_visits.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows())
    return path


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
