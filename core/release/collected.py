"""The files of a collection: what was estimated from reports, its certificate and its plan."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from core.local.estimates import LocalEstimates
from core.release.files.spreadsheet import to_csv


def collected_files(estimates: LocalEstimates) -> dict[str, Callable[[], bytes]]:
    """Every file by its name, made when it is asked for; synthetic records only where the questions allow them."""
    found: dict[str, Callable[[], bytes]] = {
        "estimates.csv": lambda: to_csv(estimates.table()),
        "certificate.json": lambda: estimates.certificate().write().encode(),
        "plan.json": lambda: estimates.plan.to_json().encode(),
    }
    if estimates.model is not None:
        found["synthetic.csv"] = lambda: to_csv(estimates.records())
    return found


def collected_zip(estimates: LocalEstimates) -> bytes:
    """All files in one archive."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in collected_files(estimates).items():
            archive.writestr(name, content())
    return held.getvalue()
