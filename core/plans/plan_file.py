"""A plan as a file: what to release and how, without the table it was made for.

**Privacy** A plan file holds the curator's choices only: questions, mechanism, budget, options, numbers of records
and copies, and how much is measured. It names columns of the public schema and nothing that was read off a table, so it
may be given to anyone.
"""

from __future__ import annotations

import json
from typing import Any

from core.base import limits
from core.base.errors import BadFile, DeskError
from core.plans.canonical import read_parts
from core.plans.release_terms import OPTIONAL, ReleaseTerms

FORMAT = 1
LONGEST = 4_000_000
"""Characters of a plan file; what is longer was not written here."""
OTHER_TABLE = {"table": None, "edition": 1}
"""What belongs to one table and is not in the file."""
PARTS = frozenset({"format", "queries", "mechanism", "budget", "options", "records"})


def write_plan_file(terms: ReleaseTerms) -> str:
    """The choice as a file, without its table, edition and price."""
    content = {name: value for name, value in terms.to_json().items() if name not in OTHER_TABLE}
    return json.dumps({"format": FORMAT, **content}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_plan_file(text: str) -> ReleaseTerms:
    """Load a plan that may come from anywhere; whatever is wrong is one sentence."""
    content = read_parts(_content(text), PARTS, OPTIONAL)
    try:
        parts = {name: value for name, value in content.items() if name != "format"}
        terms = ReleaseTerms.from_json(parts | OTHER_TABLE)
        terms.build()
        if terms.records is not None:
            limits.whole(terms.records, "records", 1)
    except DeskError:
        raise
    except Exception:
        # A class that gets a value of a kind it never thought of; the text of its error may be anything.
        raise BadFile("The plan file has a value of the wrong kind; save the plan again.") from None
    return terms


def check_length(size: int) -> None:
    """Also before a file is read at all."""
    if size > LONGEST:
        raise BadFile("The file is too long to be a plan.")


def _content(text: str) -> dict[str, Any]:
    check_length(len(text))
    try:
        content = json.loads(text, object_pairs_hook=_once, parse_constant=_finite)
    except (ValueError, RecursionError):
        raise BadFile("This is no plan of Release Desk; choose a plan.json that was saved on the Plan page.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadFile("This is no plan of Release Desk; choose a plan.json that was saved on the Plan page.")
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that is given twice has two meanings; neither is taken."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _finite(text: str) -> float:
    raise ValueError(text)
