"""A Python script that makes a release of the same plan again: same schema, questions, mechanism and budget, new noise.

It is for whoever holds the table; it contains public facts only.
"""

from __future__ import annotations

import json

from core.release.certificate import Certificate
from core.schema.domain import Domain

TEMPLATE = '''"""Makes a release like {plan} again, with fresh noise; it spends the budget of the table it gets.

    python reproduce.py TABLE [WORKSPACE]

Needs Release Desk ({software}).
"""

import json
import sys
from pathlib import Path

from core import Budget, Desk, Domain, Unit
from core.registry import query_from_json

SCHEMA = json.loads({schema})
PLAN = json.loads({chosen})

desk = Desk(sys.argv[2] if len(sys.argv) > 2 else None)
budget = Budget(PLAN["epsilon"], PLAN["delta"])
table = desk.add_table(sys.argv[1], Domain.from_json(SCHEMA), unit=Unit.from_json(PLAN["unit"]), budget=budget)
queries = [query_from_json(query) for query in PLAN["queries"]]
plan = desk.plan(
    table, queries, mechanism=PLAN["mechanism"], budget=budget, records=PLAN["records"], **PLAN["options"]
)
print(plan.expected_error.sentence())
Path("release.zip").write_bytes(desk.release(plan).zip())
print("release.zip is written.")
'''


def script(certificate: Certificate, domain: Domain) -> str:
    """The script. Texts of the schema enter it as JSON inside one quoted literal, so none of them can become code."""
    chosen = {
        "epsilon": certificate.epsilon,
        "delta": certificate.delta,
        "unit": certificate.unit,
        "queries": certificate.queries,
        "mechanism": certificate.mechanism,
        "records": certificate.synthetic_rows or None,
        "options": {name: value for name, value in certificate.parameters.items() if name != "title"},
    }
    return TEMPLATE.format(
        plan=certificate.plan,
        software=certificate.software,
        schema=ascii(json.dumps(domain.to_json())),
        chosen=ascii(json.dumps(chosen, sort_keys=True)),
    )
