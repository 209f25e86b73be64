"""The notebook of a release runs as it is, beside the files."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.release.release import Release
from core.schema.domain import Booleans, Categories
from tests.core.people import DOMAIN, people

ODD = Domain((Categories(name='re"gi\\on\n', values=("a", "b")), Booleans(name="ill")))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("mechanism", "before"), [("tree", ""), ("laplace", "my-table-")])
def test_every_cell_runs_beside_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str, before: str
) -> None:
    """Those of the archive, and those that were downloaded one by one, which are named after the table."""
    desk = Desk(tmp_path / "workspace")
    frame = people(200).head(100)
    table = frame.assign(**{ODD.names[0]: ["a", "b"] * 50, "ill": [True, False] * 50})[list(ODD.names)]
    held = desk.add_table(table, ODD, unit=Unit.row(), budget=Budget(2))
    release = desk.release(desk.plan(held, [Marginals(order=1)], mechanism=mechanism, budget=Budget(1), copies=2))
    desk.close()
    (tmp_path / "files").mkdir()
    zipfile.ZipFile(io.BytesIO(release.zip())).extractall(tmp_path / "files")
    for path in (*(tmp_path / "files").glob("*.parquet"), tmp_path / "files" / "certificate.json"):
        path.rename(path.with_name(f"{before}{path.name}"))
    monkeypatch.chdir(tmp_path / "files")
    monkeypatch.syspath_prepend(tmp_path / "files")
    monkeypatch.delitem(sys.modules, "combine", raising=False)
    found = json.loads(release.notebook())
    names: dict[str, object] = {}
    for cell in found["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    assert names["column"] == ODD.names[0]
    assert len(names["records"]) == release.certificate.synthetic_rows  # type: ignore[arg-type]
    assert names["certificate"]["epsilon"] == 1  # type: ignore[index]
    assert len(names["copies"]) == 2  # type: ignore[arg-type]
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])
    assert len(eval(_last_line(found), names)) == 1  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_files_that_were_downloaded_one_by_one_have_no_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ZIP alone has them, and what combines them; the notebook says so where it would stop."""
    desk = Desk(tmp_path / "workspace")
    held = desk.add_table(people(200).head(100), DOMAIN, unit=Unit.row(), budget=Budget(2))
    release = desk.release(desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(1), copies=2))
    desk.close()
    for name in ("synthetic.parquet", "tables.parquet", "certificate.json"):
        (tmp_path / f"people-{name}").write_bytes(release._read(name))
    monkeypatch.chdir(tmp_path)
    found, names = json.loads(release.notebook()), {}
    for cell in found["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    assert "in the ZIP" in eval(_last_line(found), names)


def _last_line(notebook: dict) -> str:
    """What the cell about intervals shows."""
    return next(cell["source"] for cell in notebook["cells"] if "combine" in cell["source"]).splitlines()[-1]


def test_an_older_release_has_none() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("certificate.json", "{}")
    assert "notebook.ipynb" not in Release(buffer.getvalue()).files
