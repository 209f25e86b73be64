"""Options that several mechanisms offer in the same words, and how a mechanism settles what it was given."""

from __future__ import annotations

from typing import Any

from core.base.options import check_options, option

NETS = ("auto", "all", "random")


def accuracy_option(help: str) -> Any:
    """The error that a theorem is asked to promise."""
    return option("real", "Accuracy", default=0.1, above=0.0, below=1.0, help=help)


def size_accuracy_option(help: str) -> Any:
    """The error that sets the size of a database; 0 leaves the size to another option."""
    return option("real", "Accuracy", default=0.0, low=0.0, below=1.0, help=help)


def failure_option() -> Any:
    help = "Probability with which the accuracy may be missed."
    return option("real", "Failure", default=0.05, above=0.0, below=1.0, help=help)


def target_error_option(help: str) -> Any:
    """The error of a session's answers that are not measured."""
    return option("real", "Target error", default=0.05, above=0.0, below=1.0, help=help)


def questions_option(most: int) -> Any:
    help = "How many questions the session is laid out for."
    return option("whole", "Planned questions", default=1_000, low=1, high=most, help=help)


def rough_rows_option(most: int) -> Any:
    help = "A public guess, never read from the table: the number of measured answers is planned for it."
    return option("whole", "Rows, roughly", default=10_000, low=1, high=most, help=help)


def replay_option(applied: str) -> Any:
    help = f"How often all past {applied} are applied again after each new one; 0 is the paper's way."
    return option("whole", "Replays", default=3, low=0, high=100, help=help)


def rounds_option(help: str, *, most: int) -> Any:
    """How many rounds a mechanism makes; 0 leaves that to it."""
    return option("whole", "Rounds", default=0, low=0, high=most, help=help)


def data_rate_option(usual: float = 0.0) -> Any:
    """Of a data player who learns by multiplicative weights."""
    help = "How fast the data player learns; 0 takes the rate that promises most."
    return option("real", "Rate", default=usual, low=0.0, help=help)


def net_option(help: str) -> Any:
    """Which databases make up a public net."""
    return option("choice", "Net", default="auto", choices=NETS, help=help)


def database_rows_option(help: str, *, most: int) -> Any:
    return option("whole", "Rows of each database", default=0, low=0, high=most, help=help)


def random_databases_option(usual: int, *, most: int, help: str) -> Any:
    return option("whole", "Random databases", default=usual, low=2, high=most, help=help)


def settle(mechanism: Any) -> None:
    """Its classes as a tuple, whatever they came as, and every option as it was declared."""
    object.__setattr__(mechanism, "queries", tuple(mechanism.queries))
    check_options(mechanism)
