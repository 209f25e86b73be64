"""A report as one HTML page with figures that opens anywhere, prints well, loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from core.base.arrays import Columns
from core.release.certificate import Certificate
from core.release.reports.blocks import BarFigure, Facts, Heading, HeatFigure, Paragraph, ReportBlock, Sentences
from core.release.reports.content import TableOf, content
from core.release.reports.drawing import bars, heat
from core.release.reports.imprint import Imprint
from core.schema.domain import Domain

STYLE = """
:root { color-scheme: light dark; --ink: #16202a; --paper: #ffffff; --bar: #1f5f8b; --line: #c9d6e2 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eef4; --paper: #10161c; --bar: #8cc4ea; --line: #35424e } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.2 } h2 { border-bottom: 1px solid var(--line); padding-bottom: .2rem; margin-top: 2.5rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top } th { width: 11rem } td { overflow-wrap: anywhere }
svg { max-width: 100%; height: auto } svg text { font-size: 12px; fill: var(--ink) } svg rect { fill: var(--bar) }
.bars p { display: grid; grid-template-columns: 11.5rem 1fr 4.5rem; gap: .5rem; align-items: center; margin: 0;
  font-size: .8rem; line-height: 1.4 }
.bars span, .bars em { text-align: right; font-style: normal; overflow-wrap: anywhere }
.bars svg { display: block; width: 100%; height: .75rem }
figure { margin: 1rem 0 } figcaption { font-size: .85rem; opacity: .8 } .heat { overflow-x: auto }
@media (max-width: 30rem) {
  th, td { display: block; width: auto } th { border: 0; padding-bottom: 0 }
  .bars p { grid-template-columns: 6.5rem 1fr 3.2rem; padding: .1rem 0 } .heat svg { max-width: none }
}
@page { size: A4; margin: 18mm 16mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 9pt sans-serif } }
@media print {
  :root { color-scheme: light; --ink: #000000; --paper: #ffffff; --bar: #1f5f8b; --line: #9aa7b4 }
  body { font-size: 10.5pt; max-width: none; margin: 0; padding: 0 }
  h1, h2, h3 { break-after: avoid } h2 { margin-top: 1.4rem } figure, tr, li { break-inside: avoid }
  .heat { overflow: visible } svg rect { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
"""


def report(
    certificate: Certificate,
    domain: Domain,
    marginal: TableOf,
    tables: Sequence[Columns],
    imprint: Imprint | None = None,
) -> str:
    """The page of a release; `imprint` says who publishes it, where somebody does."""
    said = imprint or Imprint()
    return write_page(said.heading, content(certificate, domain, marginal, tables, said))


def write_page(title: str, blocks: Iterable[ReportBlock]) -> str:
    body = "".join(_written(block) for block in blocks)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _written(block: ReportBlock) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Paragraph(text, strong):
            return f"<p><strong>{escape(text)}</strong></p>" if strong else f"<p>{escape(text)}</p>"
        case Sentences(lines):
            return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
        case Facts(lines):
            cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in lines)
            return f"<table>{cells}</table>"
        case BarFigure(title, labels, values):
            return bars(title, labels, values)
        case HeatFigure(title, sides, table):
            return heat(title, sides, table)
