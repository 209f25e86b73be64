"""Which account pays for a table: the budget belongs to people, not to bytes.

The same file is the same account. Other files are compared, by sketches of their rows (`table/same_rows.py`), with what
was taken in before: the same rows in another order, format or choice of columns spend from the account that their
people have already. Whoever keeps them apart gives a reason, which stays on record. Sketches are private: they lie in
the workspace, readable by their owner only, and what follows from them is for the curator's eyes.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from core.base.errors import BadParameter, DeskError, Refused, printable
from core.ledger.ledger import Account, Ledger
from core.ledger.rows import Separation
from core.plans.canonical import canonical
from core.plans.statements import KeptApart, Statement
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.privacy_filter import PURE, Filters
from core.privacy.unit import Unit
from core.table.same_rows import RowSketch, same_rows

INTAKE = "intake"
"""No plan has this id."""


class Accounts:
    """The accounts of one workspace, and the sketches by which a table finds its own."""

    def __init__(self, folder: Path, ledger: Ledger, noise: Noise) -> None:
        self._folder = folder / "sketches"
        self._ledger = ledger
        self._noise = noise

    @cached_property
    def key(self) -> str:
        """Of the hashes in sketches: drawn once for a workspace, so that they mean nothing elsewhere."""
        place = self._folder / "key"
        if not place.exists():
            self._write(place, f"{int(self._noise.keys(1)[0]):016x}".encode(), os.link)
        return _read(place).decode()

    @contextmanager
    def intake(self) -> Iterator[None]:
        """Be the only one who finds an account for rows: two at once, here or on two servers, would not see each
        other's, and the same people would have two budgets."""
        with self._ledger.attempts.only(INTAKE):
            yield

    def open(
        self, *, fingerprint: str, sketch: RowSketch | None, unit: Unit, budget: Budget, apart: str | None
    ) -> Account:
        """The account that pays; `apart` is why it is not that of a table with the same rows."""
        if apart is not None and not apart.strip():
            raise BadParameter("apart", "say in a sentence whose rows these are; it is kept on record.")
        known = self._ledger.has_account(fingerprint)
        alike = [] if known or sketch is None else self._alike(sketch)
        chosen = fingerprint if apart is not None or not alike else alike[0]
        try:
            account = self._ledger.open_account(
                fingerprint=chosen,
                unit_json=canonical(unit.to_json()),
                budget_json=canonical(budget.to_json()),
                filters=Filters.of(budget),
                apart_from=alike if chosen == fingerprint else (),
                reason=apart or "",
            )
        except BadParameter as problem:
            if chosen == fingerprint:
                raise
            raise Refused(self._fixed(chosen, problem)) from None
        if sketch is not None:
            self._keep(account.fingerprint, fingerprint, sketch)
        return account

    def statement(self, fingerprint: str) -> Statement:
        """What is left of an account, every spend, and what is kept apart from it."""
        account = self._ledger.account(fingerprint)
        return Statement.of(
            account,
            self._ledger.entries(fingerprint=fingerprint),
            self._ledger.overrides(fingerprint),
            [self._apart(fingerprint, found) for found in self._ledger.separations(fingerprint)],
        )

    def change_budget(self, fingerprint: str, budget: Budget, *, reason: str) -> Account:
        account = self._ledger.account(fingerprint)
        if budget.pure != (account.filters.ways.keys() == {PURE}):
            raise BadParameter("delta", "cannot change between 0 and above 0 once an account is open.")
        return self._ledger.change_budget(
            fingerprint,
            budget_json=canonical(budget.to_json()),
            filters=account.filters.changed(budget),
            reason=reason,
        )

    def _apart(self, fingerprint: str, found: Separation) -> KeptApart:
        """An account that seems to be about the same people, by its name, and why it is kept apart."""
        other = found.other if found.fingerprint == fingerprint else found.fingerprint
        return KeptApart(name=self._ledger.account_name(other), at=found.at, reason=found.reason)

    def _fixed(self, fingerprint: str, problem: BadParameter) -> str:
        name = printable(self._ledger.account_name(fingerprint))
        return (
            f"The rows of this table are those of the account '{name}', whose {problem.parameter} is fixed since its "
            "first release; use the same, or keep this table apart and give a reason."
        )

    def _alike(self, sketch: RowSketch) -> list[str]:
        """Accounts of the same rows, the one that has spent most first."""
        found = {
            place.name.partition("-")[0]
            for place in sorted(self._folder.glob("*-*"))
            if same_rows(_sketch(place), sketch)
        }
        accounts = [self._ledger.account(each) for each in sorted(found) if self._ledger.has_account(each)]
        accounts.sort(key=lambda account: account.spent / max(account.total, 1), reverse=True)
        return [account.fingerprint for account in accounts]

    def _keep(self, account: str, fingerprint: str, sketch: RowSketch) -> None:
        which = hashlib.sha256("\0".join([fingerprint, *sorted(sketch.marks)]).encode()).hexdigest()[:32]
        place = self._folder / f"{account}-{which}"
        if not place.exists():
            self._write(place, sketch.thinned().to_bytes(), os.replace)

    def _write(self, place: Path, content: bytes, name: Callable[[str, Path], None]) -> None:
        """Complete or not at all; of two that link one file the first wins."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor, draft = tempfile.mkstemp(prefix=".draft", dir=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                with suppress(FileExistsError):
                    name(draft, place)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(draft)
        except OSError as error:
            raise DeskError("The workspace cannot be written; check its space and rights.") from error


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise DeskError("A sketch in the workspace cannot be read; check the rights of the folder.") from error


def _sketch(place: Path) -> RowSketch:
    try:
        return RowSketch.from_bytes(_read(place))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        problem = f"The sketch '{place.name}' in the workspace is damaged; delete it and add its table again."
        raise DeskError(problem) from None
