"""A collection from its plan to its files: what is written is read back, and what does not belong is left out."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core import CollectPlan, LocalQuestion, estimate_reports, plan_collection, respond, respond_all
from core.base.errors import BadFile, BadParameter, Refused, Unknown
from core.local.certificate import LocalCertificate
from core.local.design import central_error, expectations, people_needed
from core.local.estimates import LocalEstimates
from core.local.joint import joined
from core.local.kinds import randomiser_from
from core.local.randomisers.odds_ratio import within
from core.local.reports import randomise_codes, read_reports
from core.release.collected import collected_files, collected_zip
from core.schema.domain import Booleans, Categories, Domain, Integers

DOMAIN = Domain(
    (
        Booleans(name="smokes"),
        Categories(name="town", values=("north", "east", "=cmd")),
        Integers(name="age", low=18, high=57),
    )
)
QUESTIONS = (
    LocalQuestion(columns=("smokes",)),
    LocalQuestion(columns=("town",), randomiser="subset"),
    LocalQuestion(columns=("smokes", "town"), randomiser="hadamard", weight=3),
    LocalQuestion(columns=("age",), wanted="ranges", randomiser="hierarchy", weight=2),
)


def plan(**changed) -> CollectPlan:
    return replace(CollectPlan(domain=DOMAIN, epsilon=Fraction(3), people=4_000, questions=QUESTIONS), **changed)


def frame(people: int, seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    smokes = generator.random(people) < 0.4
    town = np.where(smokes & (generator.random(people) < 0.8), "north", generator.choice(["east", "=cmd"], people))
    return pd.DataFrame({"smokes": smokes, "town": town, "age": generator.integers(18, 58, people)})


@pytest.mark.parametrize("asked", ["one", "all"])
def test_lines_are_read_back_and_estimated(asked):
    chosen = plan(asked=asked)
    people = frame(3_000)
    lines = respond_all(chosen, people)
    found = estimate_reports(chosen, "\n".join(lines))
    assert found.collected.people == 3_000
    assert sum(map(len, found.collected.reports)) == (3_000 if asked == "one" else 12_000)
    smokes = float(people["smokes"].mean())
    low, high = found.ends(0)
    assert low[1] <= smokes <= high[1] or abs(found.questions[0].shares[1] - smokes) < 0.1
    value, down, up = found.share_between(3, 0, 19)
    assert down <= value <= up and abs(value - float((people["age"] <= 37).mean())) < 0.25


def test_a_person_keeps_epsilon_whatever_is_asked():
    for asked in ("one", "all"):
        chosen = plan(asked=asked)
        each = 1 if asked == "one" else len(QUESTIONS)
        assert within(chosen.ratio**each, chosen.epsilon)


def test_one_person_and_columns_that_are_missing():
    line = respond(plan(), {"smokes": True, "town": "north", "age": 30})
    assert read_reports(plan(), line).people == 1
    with pytest.raises(BadParameter, match="age"):
        respond(plan(), {"smokes": True, "town": "north"})


def test_what_does_not_belong_is_counted_and_left_out():
    lines = respond_all(plan(), frame(40))
    other = respond_all(plan(title="Another"), frame(2))
    forged = ["rd1.", "hello", lines[0][:-1], lines[1].replace("rd1", "rd2"), lines[2].replace(":", ";")]
    text = "\r\n".join(["report", *lines, '"' + lines[3] + '"', "", *other, *forged])
    found = read_reports(plan(), text)
    assert (found.people, found.duplicated, found.foreign, found.malformed) == (40, 1, 2, 5)
    assert found.sentence == (
        "40 reports count. Left out: 5 lines cannot be read, 1 line was sent before, 2 lines belong to another plan."
    )
    assert read_reports(plan(), lines).sentence == "40 reports count."


def _checked(text: str) -> str:
    import zlib

    return f"{text}.{zlib.crc32(text.encode()):08x}"


def test_answers_that_nobody_can_have_sent_are_left_out():
    """With a right checksum: a question that is not asked, a report out of range, two answers where one is asked."""
    start = f"rd1.{plan().id}.{7:016x}"
    for answers in ("9:0", "0:2", "0:01", "1:7", "0:1,1:1", "0:", "a:1", "0:1,0:1"):
        assert read_reports(plan(), _checked(f"{start}.{answers}")).malformed == 1
    assert read_reports(plan(), _checked(f"{start}.0:1")).people == 1
    every = plan(asked="all")
    assert read_reports(every, _checked(f"rd1.{every.id}.{7:016x}.0:1")).malformed == 1


def test_a_plan_reads_itself_back_and_notices_changes():
    text = plan().to_json()
    assert CollectPlan.from_json(text) == plan()
    assert plan().id != plan(title="Other").id
    for broken in ("{}", "[]", "x", text.replace('"people": 4000', '"people": 5000'), text.replace("hadamard", "evil")):
        with pytest.raises(BadFile):
            CollectPlan.from_json(broken)


def test_plans_refuse_what_does_not_suit():
    for changed in (
        {"epsilon": 0},
        {"people": 0},
        {"questions": ()},
        {"asked": "some"},
        {"title": " "},
        {"questions": (QUESTIONS[0], QUESTIONS[0])},
        {"questions": (LocalQuestion(columns=("town",), wanted="ranges", randomiser="hierarchy"),)},
        {"questions": (LocalQuestion(columns=("town",), smooth=True),)},
        {"questions": (LocalQuestion(columns=("age",), randomiser="square-wave"),)},
        {"questions": (LocalQuestion(columns=("age",), randomiser="piecewise"),)},
    ):
        with pytest.raises(BadParameter):
            plan(**changed)
    for wrong in (
        {"columns": ()},
        {"columns": ("a", "a")},
        {"columns": ("a",), "weight": 0},
        {"columns": ("a",), "wanted": "x"},
    ):
        with pytest.raises(BadParameter):
            LocalQuestion(**wrong)
    with pytest.raises(Unknown):
        randomiser_from("none", 2, Fraction(2))


@pytest.mark.exhaustive
def test_the_recommended_randomiser_has_the_smallest_expected_error():
    smooth = LocalQuestion(columns=("age",), smooth=True)
    found = plan_collection(DOMAIN, epsilon=1, people=20_000, questions=[LocalQuestion(columns=("smokes",)), smooth])
    assert [each.randomiser for each in found.questions] == ["k-ary", "square-wave"]
    for one in expectations(found):
        assert one.error == min(trial.error for trial in one.trials)
        assert one.central < one.error
        assert one.why.endswith(".")
    by_hand = plan_collection(DOMAIN, epsilon=1, people=20_000, questions=[smooth], fixed={("age",): "subset"})
    assert by_hand.questions[0].randomiser == "subset"
    mean = plan_collection(DOMAIN, epsilon=1, people=20_000, questions=[LocalQuestion(columns=("age",), wanted="mean")])
    assert mean.questions[0].randomiser == "piecewise"


@pytest.mark.exhaustive
def test_more_people_make_smaller_errors():
    found = plan_collection(DOMAIN, epsilon=1, people=20_000, questions=[LocalQuestion(columns=("town",))])
    few, many = (people_needed(found, 0, error) for error in (0.1, 0.02))
    assert few is not None and many is not None and 5 * few < many
    assert central_error(found.questions[0], DOMAIN, Fraction(1), 20_000) < 0.001
    with pytest.raises(BadParameter):
        people_needed(found, 0, 0.0)


def test_pairs_show_in_the_joint_model():
    people = frame(20_000)
    chosen = plan(epsilon=Fraction(4))
    codes = {name: DOMAIN[name].encode(people[name])[0].astype(np.int64) for name in DOMAIN.names}
    found = LocalEstimates(randomise_codes(chosen, codes))
    table = found.model.marginal(("smokes", "town")) / found.model.total
    truth = np.zeros((2, 3))
    np.add.at(truth, (codes["smokes"], codes["town"]), 1 / len(people))
    apart = np.outer(truth.sum(axis=1), truth.sum(axis=0))
    assert np.abs(table - truth).sum() < 0.5 * np.abs(apart - truth).sum()
    drawn = found.records(500)
    assert list(drawn.columns) == list(DOMAIN.names) and len(drawn) == 500
    assert set(drawn["town"]) <= {"north", "east", "=cmd"}


def test_liars_widen_what_they_can_move():
    lines = respond_all(plan(), frame(500))
    honest, wary = (estimate_reports(plan(), lines, liars) for liars in (0.0, 0.02))
    for place in range(4):
        assert wary.lied(place) > 0 == honest.lied(place)
        assert (wary.ends(place)[1] >= honest.ends(place)[1]).all()
    # The worst a share of liars can do to a support count is what the formula says: all of them support one answer.
    one = plan().randomisers[0]
    reports = np.zeros(1_000, dtype=np.int64)
    lying = reports.copy()
    lying[:20] = 1
    moved = one.unbiased(one.tally(lying), 1_000)[1] - one.unbiased(one.tally(reports), 1_000)[1]
    assert moved <= one.liars(0.02) + 1e-12
    with pytest.raises(BadParameter):
        estimate_reports(plan(), lines, 1.0)


def test_files_and_certificate():
    found = estimate_reports(plan(), respond_all(plan(), frame(300)))
    files = {name: made() for name, made in collected_files(found).items()}
    assert files.keys() == {"estimates.csv", "certificate.json", "plan.json", "synthetic.csv"}
    assert b"'=cmd" in files["estimates.csv"], "no text can start a formula in a spreadsheet"
    certificate = LocalCertificate.model_validate_json(files["certificate.json"])
    assert certificate.model == "local model, epsilon per person"
    assert (certificate.epsilon, certificate.delta, certificate.reports) == (3.0, 0, 300)
    assert sum(each["reports"] for each in certificate.questions) == 300
    assert json.loads(files["plan.json"])["plan"] == certificate.plan == plan().id
    with zipfile.ZipFile(io.BytesIO(collected_zip(found))) as archive:
        assert set(archive.namelist()) == files.keys()


def test_nothing_to_draw_records_from():
    mean = plan(questions=(LocalQuestion(columns=("age",), wanted="mean", randomiser="piecewise"),))
    found = estimate_reports(mean, respond_all(mean, frame(50)))
    assert found.model is None and "synthetic.csv" not in collected_files(found)
    with pytest.raises(Refused):
        found.records()
    with pytest.raises(BadParameter):
        found.ends(0)
    assert joined(DOMAIN, (), 0) is None
    empty = estimate_reports(plan(), "")
    assert empty.collected.people == 0 and len(empty.table()) > 0
