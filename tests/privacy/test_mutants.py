"""Every mutant is killed by a check that passes on the code as it is."""

from pathlib import Path

import pytest

from core.base.errors import Failed
from tests.privacy.mutants.mutants import MUTANTS
from tests.privacy.mutants.pipeline_mutants import PIPELINE


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=10)
@pytest.mark.parametrize("check", dict.fromkeys(mutant.check for mutant in MUTANTS), ids=lambda check: check.__name__)
def test_checks_pass_on_the_code_as_it_is(check):
    check()


@pytest.mark.crossing(keep=12)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_killed(mutant, monkeypatch):
    mutant.breaks(monkeypatch)
    with pytest.raises(mutant.killed_by):
        mutant.check()


@pytest.mark.exhaustive
def test_mutants_of_the_way_to_a_mechanism_do_not_hide_one_another(monkeypatch):
    """Broken all at once, the way from a file to a release was once noticed by nothing."""
    for _, _, breaks, *_ in PIPELINE[:7]:
        breaks(monkeypatch)
    for check in dict.fromkeys(check for _, check, *_ in PIPELINE[:7]):
        with pytest.raises((AssertionError, Failed)):
            check()


def test_they_are_counted_where_checks_are_listed():
    listed = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert f"lists {len(MUTANTS)} ways to break privacy" in listed
