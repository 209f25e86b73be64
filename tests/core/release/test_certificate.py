import json

import numpy as np
import pytest

from core.base.errors import BadFile
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.models.histogram import Histogram
from core.planning.simulation.expected_error import Figure
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.release.certificate import Certificate, certify
from tests.core.samples import SMALL

CERTIFICATE = Certificate(
    plan="0" * 32,
    software="release-desk test",
    created="2026-01-01",
    mechanism="histogram",
    parameters={},
    queries=[],
    epsilon=1.0,
    delta=0.0,
    unit={"column": None, "limit": 1, "neighbours": "add-remove"},
    neighbours="Neighbouring tables differ by adding or removing one row.",
    schema_digest=SMALL.digest,
    synthetic_rows=900,
    expected_error={"mean": 1.5, "worst": 6.0, "about": "Each count"},
    answers_from="records",
)

FIGURE = Figure(
    mean=1.234567,
    worst=6.0,
    about="The chosen questions",
    low=1.0,
    high=2.0,
    rows=900,
    runs=4,
    seconds=0.1,
    how="simulated",
)


def test_certificate_reads_back_and_refuses_anything_else():
    assert Certificate.read(CERTIFICATE.write()) == CERTIFICATE
    changes = ({"extra": 1}, {"epsilon": -5}, {"epsilon": float("nan")}, {"delta": 1}, {"format": 99})
    tampered = [json.dumps(json.loads(CERTIFICATE.write()) | change) for change in changes]
    for text in ("", "[]", "{}", "x" * 5_000_000, *tampered):
        with pytest.raises(BadFile, match="ertificate"):
            Certificate.read(text)


def test_a_certificate_says_how_the_release_was_made():
    mechanism = IterativeWeights(queries=(Marginals(order=2),), budget=Budget(1, 1e-9), rounds=7)
    model = Histogram(SMALL, np.ones(SMALL.shape()))
    certificate = certify("p", SMALL, Unit.id("person", 3), Budget(2, 1e-9), mechanism, model, 24, FIGURE)
    assert certificate.expected_error == FIGURE.to_json()
    assert (certificate.mechanism, certificate.epsilon, certificate.delta) == ("iterative-weights", 2.0, 1e-9)
    assert certificate.parameters["rounds"] == 7
    assert certificate.queries[0]["class"] == "marginals"
    assert certificate.unit == {"column": "person", "limit": 3, "neighbours": "add-remove"}
    assert certificate.schema_digest == SMALL.digest
    assert certificate.software.startswith("release-desk")
    assert Certificate.read(certificate.write()).facts() == json.loads(certificate.write())
