"""What a desk is made of, joined once: who keeps, who plans, who pays and who answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from core.desk.books import Books
from core.desk.decisions import Decisions
from core.desk.kept.drafts import Drafts
from core.desk.kept.labels import Labels
from core.desk.kept.machine_keys import MachineKeys
from core.desk.kept.publisher import PublisherFile
from core.desk.kept.shared import SharedItems
from core.desk.payments import Payments
from core.desk.planner import Planner
from core.desk.release_attacks import ReleaseAttacks
from core.desk.releases import Releases
from core.desk.running.background import Background
from core.desk.running.trial_process import TrialProcess
from core.desk.running.worker import Worker
from core.desk.session_choice import SessionChoice
from core.desk.tables.accounts import Accounts
from core.desk.tables.held_tables import HeldTables
from core.desk.tables.known_row_numbers import KnownRows
from core.desk.tables.surveys import Surveys
from core.desk.told_figures import ToldFigures
from core.ledger.ledger import Ledger
from core.planning.simulation.kept_trials import here
from core.privacy.noise import Noise
from core.sessions.pace import Pace
from core.sessions.workspace_sessions import Sessions
from core.table.counts import Counts

OPEN_TABLES = 4


class Parts:
    """The parts of one workspace; each knows only those that it needs."""

    def __init__(self, folder: Path, journal: Path, *, pace: Pace, worker: bool, ledger: str | Path | None) -> None:
        self.books = books = Books.of(folder, ledger)
        self.ledger = Ledger(books.ledger, outside=journal)
        books.bind(self.ledger)
        self.worker = Worker(folder, journal, books.ledger) if worker else None
        self.trials = TrialProcess() if worker else None
        self.background = Background()
        noise = Noise()
        self.accounts = Accounts(folder, self.ledger, noise)
        self.labels = Labels(books.items("labels"))
        self.tables = HeldTables(folder, self.ledger, noise, self.accounts, self.labels)
        self.counts: Callable[[str], Counts] = lru_cache(maxsize=OPEN_TABLES)(self.tables.open)
        table, counts = self.tables.find, self.counts
        self.shared_items = SharedItems(books.items("shared"))
        self.drafts = Drafts(folder / "drafts")
        self.publisher = PublisherFile(books.items("publisher"))
        self.machine_keys = MachineKeys(books.items("machines"))
        self.known_rows = KnownRows(self.ledger)
        self.told_figures = ToldFigures(folder, self.ledger, self.known_rows, self.trials or here)
        self.planner = Planner(self.ledger, table, self.told_figures, self.known_rows)
        self.attacks = ReleaseAttacks(self.ledger, self.planner, table=table, rows=counts)
        self.session_choice = SessionChoice(self.told_figures, self.known_rows, self.trials or here)
        self.decisions = Decisions(self.ledger, table=table, counts=counts)
        self.surveys = Surveys(self.ledger, noise, self.accounts)
        self.sessions = Sessions(books.sessions, self.ledger, noise, table=table, counts=counts, pace=pace)
        self.releases = Releases(self.ledger, self.planner, self.told_figures, table=table, counts=counts)
        self.payments = Payments(
            self.ledger,
            noise,
            self.background,
            planner=self.planner,
            releases=self.releases,
            sessions=self.sessions,
            decisions=self.decisions,
            table=table,
            counts=counts,
            worker=self.worker,
        )

    def close(self) -> None:
        """Let what runs finish and accept no more."""
        self.background.close()
        if self.worker is not None:
            self.worker.close()
        if self.trials is not None:
            self.trials.close()
        self.sessions.file.database.close()
        self.ledger.database.close()
        self.books.close()
