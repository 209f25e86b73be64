from importlib.metadata import PackageNotFoundError, version

import pytest

from core.base import version as versions


def test_an_installed_program_tells_its_version():
    assert versions.program_version() == version("release-desk")


def test_a_copy_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", missing)
    assert versions.program_version() == "from source"
