"""Figures of peers that are not installed, measured once on a shared 2-core machine; the best of several runs."""

from __future__ import annotations

FIGURES: dict[tuple[str, str, str, str], float] = {
    ("dense", "update 1e5 cells", "cpu_s", "smartnoise"): 1.65,
    ("dense", "update 1e6 cells", "cpu_s", "smartnoise"): 21.8,
    ("dense", "update 1e7 cells", "cpu_s", "smartnoise"): 561,
    ("noise", "laplace", "per_s", "opendp"): 90_000,
    ("noise", "gaussian", "per_s", "opendp"): 50_000,
    ("noise", "select", "ms", "opendp"): 106,
    ("decide", "barbell eps=0.5", "excess", "exponential mechanism"): 5.6,
    ("decide", "barbell eps=1", "excess", "exponential mechanism"): 0.2,
    ("decide", "barbell eps=2", "excess", "exponential mechanism"): 0.0,
    ("decide", "planted eps=0.5", "excess", "exponential mechanism"): 8.2,
    ("decide", "planted eps=1", "excess", "exponential mechanism"): 1.1,
    ("decide", "planted eps=2", "excess", "exponential mechanism"): 0.7,
    ("decide", "BA(1000, 3) eps=0.1", "cost", "thesis"): 788,
    ("decide", "BA(1000, 3) eps=1", "cost", "thesis"): 710,
    ("decide", "ten stars eps=0.1", "cost", "thesis"): 269,
    ("decide", "ten stars eps=1", "cost", "thesis"): 52,
}
"""(bench, case or the first word of it, metric, peer) -> figure."""


def recorded(bench: str, case: str, metric: str, peer: str) -> float | None:
    """The figure for this case, else the one for its kind of case, else None."""
    for name in (case, case.split()[0]):
        if (figure := FIGURES.get((bench, name, metric, peer))) is not None:
            return figure
    return None
