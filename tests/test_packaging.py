"""What people install, type and configure agrees across the files that say it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import streamlit.config
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from dashboard.door import settings as served

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


IMPORTED_AS = {"fpdf2": "fpdf", "scikit-learn": "sklearn"}
"""Libraries whose code has another name than their package."""


def names(requirements: list[str]) -> set[str]:
    return {Requirement(line).name for line in requirements}


def command(kind: str) -> str:
    found = re.findall(rf"^<!-- {kind} command -->\n```sh\n(.+)\n```$", README, flags=re.MULTILINE)
    assert len(found) == 1, f"README needs exactly one {kind} command, in one line"
    return found[0]


def settings(table: dict, prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        flat |= settings(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


CONFIG = settings(tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")))


def test_hosted_demos_get_the_same_libraries() -> None:
    lines = (ROOT / "dashboard" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == PROJECT["dependencies"]


@pytest.mark.parametrize("line", [*chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())])
def test_every_library_is_bounded_on_both_sides(line: str) -> None:
    assert {specifier.operator for specifier in Requirement(line).specifier} == {">=", "<"}


def test_python_versions() -> None:
    allowed = SpecifierSet(PROJECT["requires-python"])
    assert [minor for minor in range(8, 20) if f"3.{minor}.0" in allowed] == [11, 12, 13]


def test_oracles_and_peers_are_not_needed_at_run_time() -> None:
    assert not names(PROJECT["dependencies"]) & {"opendp", "dp-accounting", "dpmm", "pyspark", "pytest"}


@pytest.mark.parametrize(
    ("package", "foreign"), [("core", {"streamlit", "plotly", "dashboard"}), ("dashboard", {"duckdb", "pyspark"})]
)
def test_run_time_code_imports_only_what_it_may(package: str, foreign: set[str]) -> None:
    optional = (PROJECT["optional-dependencies"][extra] for extra in ("spark", "learn", "postgres", "mysql", "survey"))
    installed = names([*PROJECT["dependencies"], *chain(*optional)])
    allowed = ({IMPORTED_AS.get(name, name) for name in installed} | {"core", "dashboard"}) - foreign
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.append(node.module or "")
            for module in {module.split(".")[0] for module in modules} - sys.stdlib_module_names:
                assert module in allowed, f"{path.relative_to(ROOT)} must not import {module}"


def test_start_command_installs_and_listens_on_this_machine_only() -> None:
    assert command("start") == "python3 -m venv .venv && .venv/bin/pip install -q -e . && .venv/bin/release-desk"
    assert PROJECT["scripts"] == {"release-desk": "dashboard.__main__:main"}
    passed = served.settings()
    assert passed["server.address"] == "127.0.0.1"
    assert passed["server.allowedHosts"] == ["127.0.0.1", "localhost", "::1"]


def test_there_is_one_file_of_settings() -> None:
    """Hosted demos look for it at the top, Streamlit beside the pages, the command in the package."""
    at_the_top = ROOT / ".streamlit" / "config.toml"
    assert at_the_top.resolve() == served.FILE
    assert served.FILE == ROOT / "dashboard" / ".streamlit" / "config.toml"
    package_data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    assert ".streamlit/config.toml" in package_data["dashboard"]
    assert served.settings().items() >= CONFIG.items()


HOSTILE = """
client.showErrorDetails = "full"
browser.gatherUsageStats = true
server.maxUploadSize = 4000
server.enableXsrfProtection = false
server.enableCORS = false
server.address = "0.0.0.0"
server.allowedHosts = ["*"]
server.enableAgentApi = true
global.developmentMode = true
theme.font = "serif"
"""
REPORT = """
import json, sys
from streamlit import config
from streamlit.web.server.starlette import starlette_server
from dashboard.__main__ import main
from dashboard.door.settings import settings

def report(runner):
    print(json.dumps({name: config.get_option(name) for name in settings(port=8600)}))

starlette_server.UvicornRunner.run = report
main(["--port", "8600"])
"""


@pytest.mark.exhaustive
def test_the_command_has_its_own_settings_in_any_folder(tmp_path: Path) -> None:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(HOSTILE)
    variables = {"STREAMLIT_CLIENT_SHOW_ERROR_DETAILS": "full", "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "4000"}
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    program = [sys.executable, "-c", REPORT]
    said = subprocess.check_output(program, cwd=tmp_path, env=environment, text=True, timeout=120)
    assert json.loads(said.splitlines()[-1]) == served.settings(port=8600)


def test_test_command_installs_and_runs_what_is_fast() -> None:
    test = command("test")
    assert "pip install -q --no-compile -e '.[test]'" in test
    assert test.endswith("python -m pytest -q -n 2 --dist loadfile -m 'not slow and not exhaustive'")


def test_ci_runs_the_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=True)
    extraction = re.search(r"^command=\$\((awk .*?README\.md)\)$", script, flags=re.MULTILINE | re.DOTALL)
    assert extraction is not None
    found = subprocess.run(["bash", "-c", extraction[1]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == command("test")
    assert "RELEASE_DESK_REQUIRE_BROWSER=1" in script
    assert "has_proxy || packages+=(nginx)" in script
    rest = ("-n 4 --dist worksteal -m '(slow or exhaustive) and not alone'", "-m alone")
    assert all(f"python -m pytest -q {part}" in script for part in rest), "what the command leaves out is run after it"


@pytest.mark.parametrize("option", CONFIG)
def test_every_setting_exists_in_streamlit(option: str) -> None:
    streamlit.config.get_option(option)


def test_an_unknown_setting_would_be_noticed() -> None:
    with pytest.raises(RuntimeError):
        streamlit.config.get_option("client.noSuchOption")


def test_settings_keep_private_values_from_leaking() -> None:
    assert CONFIG["client.showErrorDetails"] == "none"
    assert CONFIG["browser.gatherUsageStats"] is False
    assert CONFIG["server.enableXsrfProtection"] is True
    assert CONFIG["server.enableCORS"] is True
    assert CONFIG["server.enableAgentApi"] is False
    assert CONFIG["server.maxUploadSize"] == 500
    assert CONFIG["server.maxMessageSize"] == 50
    assert "server.address" not in CONFIG, "a hosted demo must stay reachable; the start command binds to loopback"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("required", "outcome"), [("0", "1 passed, 1 skipped"), ("1", "1 passed, 1 error")])
def test_browser_tests_without_a_browser(tmp_path: Path, required: str, outcome: str) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.browser\ndef test_page(chromium_path): pass\ndef test_plain(): pass\n"
    )
    environment = os.environ | {"PATH": "", "PYTHONPATH": str(ROOT), "RELEASE_DESK_REQUIRE_BROWSER": required}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "-p", "no:xdist", tmp_path],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert outcome in run.stdout
    assert "apt install chromium" in run.stdout


def test_tests_cannot_leave_this_machine() -> None:
    with socket.socket() as plain, pytest.raises(ConnectionRefusedError, match="this machine only"):
        plain.connect(("192.0.2.1", 80))
    with pytest.raises(OSError, match="this machine only"):
        socket.create_connection(("example.org", 80), timeout=1)


def test_tests_can_reach_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()


def test_workspace_is_empty_and_is_where_the_desk_looks(workspace: Path) -> None:
    assert list(workspace.iterdir()) == []
    assert os.environ["RELEASE_DESK_HOME"] == str(workspace)
