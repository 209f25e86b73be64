"""The benchmark command prints what DESIGN promises; no benchmark is run here."""

from __future__ import annotations

import json

import pytest

from tests.bench.__main__ import main, names
from tests.bench.line import Line, cpu_seconds, peak_rss_mb
from tests.bench.recorded import recorded


def test_a_line_is_one_json_object_with_its_ratio() -> None:
    line = Line("marginals", "adult eps=1", "tv2", 0.031, "dpmm-mst", 0.0594)
    assert json.dumps(line.to_json()) == (
        '{"bench": "marginals", "case": "adult eps=1", "metric": "tv2", "ours": 0.031, '
        '"peer": "dpmm-mst", "theirs": 0.0594, "ratio": 0.5219}'
    )


def test_recorded_figures_are_marked_and_missing_peers_are_null() -> None:
    assert Line("noise", "laplace", "per_s", 8e6, "opendp", 9e4, "recorded").to_json()["theirs_from"] == "recorded"
    alone = Line("app", "start", "ms", 120).to_json()
    assert alone["peer"] is None and alone["theirs"] is None and alone["ratio"] is None
    assert "theirs_from" not in alone
    assert recorded("noise", "laplace scale=3", "per_s", "opendp") == 90_000
    assert recorded("noise", "laplace scale=3", "per_s", "nobody") is None


@pytest.mark.parametrize("arguments", [["no-such"], ["noise", "line"], []])
def test_an_unknown_name_gets_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1
    assert all(name in output.err for name in names())
    assert "noise" in names() and not {"line", "recorded", "test_harness", "__main__"} & set(names())


def test_measures() -> None:
    calls: list[int] = []
    assert cpu_seconds(lambda: calls.append(1), repeats=3) >= 0
    assert len(calls) == 4
    assert 1 < peak_rss_mb() < 1e6
