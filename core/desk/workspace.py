"""Where a desk keeps private things: one folder outside the repository, readable by its owner only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from core.base.errors import BadParameter

HOME_VARIABLE = "RELEASE_DESK_HOME"
STATE_VARIABLE = "RELEASE_DESK_STATE"


def workspace(folder: str | Path | None = None) -> Path:
    """The folder given, else the one the environment names, else the user's data folder; created if absent."""
    chosen = Path(folder or os.environ.get(HOME_VARIABLE) or _user_data() / "release-desk").expanduser()
    try:
        chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(chosen, os.W_OK | os.X_OK):
            raise PermissionError
    except (OSError, ValueError):
        problem = f"the folder cannot be used; set {HOME_VARIABLE} to one you can write."
        raise BadParameter("workspace", problem) from None
    return chosen.resolve()


def outside() -> Path:
    """Where journals of workspaces are kept: not in them, so that a backup that is put back does not put these back."""
    named = os.environ.get(STATE_VARIABLE)
    return Path(named).expanduser() if named else (_user_state() / "release-desk").expanduser()


def _user_state() -> Path:
    if sys.platform in ("win32", "darwin"):
        return _user_data() / "release-desk-state"
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state")


def _user_data() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    if sys.platform == "darwin":
        return Path("~/Library/Application Support")
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
