"""Ask a shared session from a program; this file needs nothing but Python.

RELEASE_DESK_TOKEN=... python -m dashboard.answers.client https://desk.example/answers/SESSION "age >= 65"
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AnswersClient:
    address: str
    token: str = field(repr=False)

    def about(self) -> dict[str, Any]:
        """Columns, what is left, and the rate."""
        return self._send("", None)

    def price(self, question: str) -> dict[str, Any]:
        """What a question takes at most; nothing is asked."""
        return self._send("/price", question)

    def ask(self, question: str) -> dict[str, Any]:
        """The answer to a formula or a SELECT; asking again is free."""
        return self._send("", question)

    def _send(self, path: str, question: str | None) -> dict[str, Any]:
        body = None if question is None else json.dumps({"question": question}).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.address.rstrip("/") + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return json.load(response)
        except urllib.error.HTTPError as refused:
            raise RuntimeError(f"{refused.code}: {refused.read().decode(errors='replace')}") from None


if __name__ == "__main__":
    print(json.dumps(AnswersClient(sys.argv[1], os.environ["RELEASE_DESK_TOKEN"]).ask(sys.argv[2]), indent=2))
