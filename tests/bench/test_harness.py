"""The benchmark command prints what DESIGN promises; no benchmark is run here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.bench.__main__ import main, names
from tests.bench.kit import dpmm_peer
from tests.bench.kit.line import Line, cpu_seconds, peak_mb
from tests.bench.kit.recorded import recorded


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
    assert "noise" in names() and not {"dpmm_peer", "line", "recorded", "test_harness", "__main__"} & set(names())


def test_measures() -> None:
    calls: list[int] = []
    assert cpu_seconds(lambda: calls.append(1), repeats=3) >= 0
    assert len(calls) == 4
    assert 1 < peak_mb() < 1e6


STAND_IN = """
import json, sys
import numpy as np
from pathlib import Path
folder = Path(sys.argv[-1])
task = json.loads((folder / "task.json").read_text())
np.save(folder / "drawn.npy", np.load(folder / "codes.npy")[::-1])
(folder / "spent.json").write_text(json.dumps({"cpu_s": task["settings"]["epsilon"], "rss_mb": task["sizes"]["b"]}))
"""


def test_a_peer_in_another_environment_gets_the_rows_and_gives_rows_back(tmp_path: Path) -> None:
    """The other interpreter is played by a script that ignores the one it is told to run."""
    script, python = tmp_path / "peer.py", tmp_path / "python"
    script.write_text(STAND_IN)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    python.chmod(0o700)
    codes = np.arange(6).reshape(3, 2)
    drawn, spent = dpmm_peer.synthetic(str(python), "dpmm AIM", codes, {"a": 5, "b": 7}, 0.5, 1e-9)
    assert drawn.tolist() == codes[::-1].tolist()
    assert spent == {"cpu_s": 0.5, "rss_mb": 7}


def test_a_peer_that_cannot_run_says_how_to_install_it() -> None:
    with pytest.raises(RuntimeError, match=r"pip install dpmm==0\.1\.9"):  # this environment never has dpmm
        dpmm_peer.synthetic(sys.executable, "dpmm MST", np.zeros((2, 1), dtype=np.int64), {"a": 2}, 1, 1e-9)


def test_a_peer_that_is_not_named_is_said_to_be_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(dpmm_peer.PYTHON, raising=False)
    assert dpmm_peer.interpreter() is None
    told = capsys.readouterr().err
    assert "recorded" in told and dpmm_peer.PYTHON in told and "dpmm==0.1.9" in told
    monkeypatch.setenv(dpmm_peer.PYTHON, "elsewhere/python")
    assert dpmm_peer.interpreter() == "elsewhere/python"


def test_the_figures_page_names_every_benchmark() -> None:
    listed = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in listed for name in names())
