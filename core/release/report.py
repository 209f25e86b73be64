"""A report for people: one HTML page with figures that opens anywhere, loads nothing and runs no script.

All of it is computed from the release itself, so it may be given to anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.base.odds import odds
from core.base.wording import amount, rows
from core.registry import query_from_json
from core.release.catalogue import promise
from core.release.certificate import Certificate
from core.release.drawing import MOST_SIDE, bars, heat
from core.schema.domain import Domain

MOST_COLUMNS, MOST_PAIRS = 20, 4
MOST_VALUES = 100_000
STYLE = """
:root { color-scheme: light dark; --ink: #16202a; --paper: #ffffff; --bar: #1f5f8b; --line: #c9d6e2 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eef4; --paper: #10161c; --bar: #8cc4ea; --line: #35424e } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.2 } h2 { border-bottom: 1px solid var(--line); padding-bottom: .2rem; margin-top: 2.5rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top }
svg { max-width: 100%; height: auto } svg text { font-size: 12px; fill: var(--ink) } svg rect { fill: var(--bar) }
figure { margin: 1rem 0; overflow-x: auto } figcaption { font-size: .85rem; opacity: .8 }
"""
TableOf = Callable[[Sequence[str]], NDArray[np.float64]]


def report(certificate: Certificate, domain: Domain, marginal: TableOf, tables: Sequence[Columns]) -> str:
    """The page; `marginal` gives released counts, `tables` the column sets that were released as tables."""
    sections = [
        f"<p>{escape(promise(certificate))}</p>",
        f"<p>{escape(odds(certificate.epsilon))}</p>",
        _facts(certificate, domain),
        "<h2>Single columns</h2>",
        *(_column(domain, name, marginal) for name in domain.names[:MOST_COLUMNS] if domain[name].size <= MOST_VALUES),
        *_pairs(domain, marginal, tables),
        "<h2>Columns of the schema</h2>",
        _schema(domain),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Release report</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>Release report</h1>{''.join(sections)}</body></html>\n"
    )


def _facts(certificate: Certificate, domain: Domain) -> str:
    error = certificate.expected_error
    asked = "; ".join(query_from_json(query).sentence(domain) for query in certificate.queries)
    lines = {
        "Released": asked,
        "Mechanism": f"{certificate.parameters.get('title', certificate.mechanism)} ({certificate.mechanism})",
        "Budget": f"epsilon {certificate.epsilon:g}, delta {certificate.delta:g}",
        "Unit of privacy": certificate.neighbours,
        "Records": amount(certificate.synthetic_rows),
        "Expected error": f"{error['about']}: ±{rows(error['mean'])} on average; all within ±{rows(error['worst'])}, "
        "95 % of the time",
        "Answers come from": certificate.answers_from,
        "Made": f"{certificate.created} by {certificate.software}",
        "Release": certificate.plan,
    }
    return "<h2>What is promised</h2>" + _table(lines.items())


def _column(domain: Domain, name: str, marginal: TableOf) -> str:
    attribute = domain[name]
    labels = [attribute.label(code) for code in range(attribute.size)]
    return f"<h3>{escape(name)}</h3>" + bars(name, labels, marginal((name,)))


def _pairs(domain: Domain, marginal: TableOf, tables: Sequence[Columns]) -> list[str]:
    """Heat maps of a few released pairs of columns that are small enough to be read."""
    pairs = dict.fromkeys(pair for columns in tables for pair in combinations(columns, 2))
    small = [pair for pair in pairs if all(1 < domain[name].size <= MOST_SIDE for name in pair)][:MOST_PAIRS]
    if not small:
        return []
    drawn = []
    for pair in small:
        sides = [[domain[name].label(code) for code in range(domain[name].size)] for name in pair]
        drawn.append(f"<h3>{escape(' by '.join(pair))}</h3>" + heat(" by ".join(pair), sides, marginal(pair)))
    return ["<h2>Pairs of columns</h2>", *drawn]


def _schema(domain: Domain) -> str:
    return _table(
        (attribute.name, f"{attribute.kind}, {amount(attribute.size)} cells. {attribute.note}") for attribute in domain
    )


def _table(lines: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in lines)
    return f"<table>{cells}</table>"
