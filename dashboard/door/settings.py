"""The settings that the command serves with, wherever it is started: one file, and what serving adds to it.

Passed on as if typed: a file of another project in the folder where the command is started, or a variable, changes none
of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / ".streamlit" / "config.toml"
HERE = "127.0.0.1"
NAMES = (HERE, "localhost", "::1")
"""Names of this machine; a page of another name that leads here is answered nothing private."""
SERVING: dict[str, Any] = {
    # The command prints a link of its own; opening a browser would show the key to whoever lists processes.
    "logger.hideWelcomeMessage": True,
    "server.headless": True,
    # A changed source file would load modules anew, and with them another key.
    "server.fileWatcherType": "none",
    "server.runOnSave": False,
    "global.developmentMode": False,
}


def settings(address: str = HERE, port: int | None = None, hosts: Sequence[str] = ()) -> dict[str, Any]:
    """Every setting by its dotted name; without a port the first free one from Streamlit's own on is taken."""
    chosen = {} if port is None else {"server.port": port}
    bound = {"server.address": address, "server.allowedHosts": [*NAMES, *hosts]}
    return _flat(tomllib.loads(FILE.read_text(encoding="utf-8"))) | SERVING | bound | chosen


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return flat
