"""Packages that need not be installed: what is read with them is offered where they are."""

from __future__ import annotations

from importlib import import_module


def can_load(package: str) -> bool:
    """Whether it loads, which takes more than being there: a driver may need a library of the system as well.

    >>> can_load("json"), can_load("no_such_package")
    (True, False)
    """
    try:
        import_module(package)
    except ImportError:
        return False
    return True
