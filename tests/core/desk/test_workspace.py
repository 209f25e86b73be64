import os
import stat

import pytest

from core.base.errors import BadParameter
from core.desk.workspace import workspace


def test_the_given_folder_wins_and_is_private(tmp_path):
    folder = workspace(tmp_path / "new" / "desk")
    assert folder.is_dir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_environment_comes_next(tmp_path, monkeypatch):
    monkeypatch.setenv("RELEASE_DESK_HOME", str(tmp_path / "from-environment"))
    assert workspace() == tmp_path / "from-environment"


def test_otherwise_the_users_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("RELEASE_DESK_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert workspace() == tmp_path / "release-desk"


def test_a_file_in_the_way_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadParameter, match="RELEASE_DESK_HOME"):
        workspace(tmp_path / "file" / "below")
    assert os.listdir(tmp_path) == ["file"]
