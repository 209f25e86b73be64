"""Every mutant is killed by a check that passes on the code as it is."""

import pytest

from tests.privacy.mutants.mutants import MUTANTS


@pytest.mark.parametrize("check", dict.fromkeys(mutant.check for mutant in MUTANTS), ids=lambda check: check.__name__)
def test_checks_pass_on_the_code_as_it_is(check):
    check()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_killed(mutant, monkeypatch):
    mutant.breaks(monkeypatch)
    with pytest.raises(mutant.killed_by):
        mutant.check()


def test_there_are_enough():
    assert len({mutant.name for mutant in MUTANTS}) >= 14
