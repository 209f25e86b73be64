"""What was loaded once is not looked through for garbage again.

Programs and their tables of contents are a million objects that stay until the server ends. Python looks through all
of them whenever enough new ones have gathered, on the thread that happens to run then: 200 to 400 ms of a page's time.
"""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass

MANY = 10
"""Modules that are worth it. Whatever else lives just then is kept out of the search too, so it is not done often."""


@dataclass
class PutAside:
    """How many modules had been loaded when they were last put aside."""

    modules: int = 0

    def keep(self, modules: int) -> bool:
        """Put aside what is there, if so many modules are more than a few new ones."""
        if modules < self.modules + MANY:
            return False
        self.modules = modules
        gc.freeze()
        return True


_kept = PutAside()


def put_aside() -> None:
    """At the start of a page, for what earlier pages have loaded."""
    _kept.keep(len(sys.modules))
