"""How many rows a table has, as far as that is public: by its unit, by counts that are known, or by releases."""

from __future__ import annotations

from functools import lru_cache

from core.ledger.ledger import Ledger
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.plans.terms import is_release
from core.release.release import Release
from core.rules.contradictions import check_rules, known_rows


class KnownRows:
    """Reads each stored release once: its bytes never change."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told = lru_cache(maxsize=64)(self._read)

    def of(self, table: DeskTable) -> int | None:
        """The exact number where the unit or known counts make it public, else the newest released one, else None."""
        if table.unit.public_rows:
            return int(table.notes["rows"])
        least, most = known_rows(check_rules(table.domain))
        if least == most:
            return least
        entries = self._ledger.entries(fingerprint=self._ledger.dataset(table.id).fingerprint)
        stored = (each for each in entries if each.dataset_id == table.id and each.status == "stored")
        told = (self._told(each.plan_id, each.plan_json) for each in stored if is_release(each))
        return next((rows for rows in told if rows is not None), None)

    def _read(self, plan_id: str, plan_json: str) -> int | None:
        content = self._ledger.result(plan_id)
        if not content:
            return None
        certificate = Release(content).certificate
        if certificate.measured is not None:
            return certificate.measured.rows
        return certificate.synthetic_rows if ReleaseTerms.read(plan_json).records is None else None
