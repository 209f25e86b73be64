import hashlib
import json

import numpy as np

from core.release.files.catalogue import croissant, promise
from core.release.reports.page import report
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL

FILES = {"synthetic.csv": b"a\n1\n", "synthetic.parquet": b"PAR1"}


def described(domain=SMALL):
    return json.loads(croissant(CERTIFICATE, domain, FILES))


def test_the_files_are_named_sized_and_digested():
    found = {entry["@id"]: entry for entry in described()["distribution"]}
    assert set(found) == set(FILES)
    for name, content in FILES.items():
        assert found[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert found[name]["contentSize"] == f"{len(content)} B"
    assert found["synthetic.csv"]["encodingFormat"] == "text/csv"


def test_every_column_is_a_field_with_its_type():
    domain = Domain(
        (
            Categories(name="region", values=("north", "south"), note="the law"),
            Categories(name="code", values=(1, 2)),
            Integers(name="age", low=0, high=9),
            Reals(name="bmi", low=0.0, high=9.0, bins=3),
            Booleans(name="smoker"),
            Dates(name="day", low="2024-01-01", high="2024-12-31", bins=4),
        )
    )
    fields = described(domain)["recordSet"][0]["field"]
    assert {entry["name"]: entry["dataType"] for entry in fields} == {
        "region": "sc:Text",
        "code": "sc:Integer",
        "age": "sc:Integer",
        "bmi": "sc:Float",
        "smoker": "sc:Boolean",
        "day": "sc:Date",
    }
    assert fields[0]["description"] == "the law"
    assert all(entry["source"]["extract"] == {"column": entry["name"]} for entry in fields)


def test_every_key_of_ours_is_defined_by_the_context():
    context = described()["@context"]
    assert context["@vocab"] == "https://schema.org/"
    for key in ("recordSet", "field", "dataType", "source", "extract", "fileObject", "column", "conformsTo"):
        assert key in context


def test_the_promise_names_budget_and_unit_and_leaves_the_mechanism_to_the_certificate():
    text = promise(CERTIFICATE)
    assert f"epsilon = {CERTIFICATE.epsilon:g}" in text
    assert f"'{CERTIFICATE.mechanism}'" not in text
    assert CERTIFICATE.neighbours in text


def test_a_delta_that_makes_the_promise_little_is_said_where_the_promise_is():
    assert "means little" not in promise(CERTIFICATE)
    large = CERTIFICATE.model_copy(update={"delta": 0.99})
    assert "Delta is 0.99, so large that the promise means little" in promise(large)
    assert "means little" in json.loads(croissant(large, SMALL, FILES))["description"]
    assert "means little" in report(large, SMALL, lambda columns: np.ones(SMALL.shape(columns)), [])
