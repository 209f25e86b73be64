"""Which version of the program this is, for certificates and pages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    try:
        return version("release-desk")
    except PackageNotFoundError:
        return "from source"
