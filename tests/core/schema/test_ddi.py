"""DDI Codebooks: what they declare is read, what they counted is not."""

from __future__ import annotations

import pytest

from core.base.errors import BadSchema
from core.schema import codebook

BOOK = """<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="ddi:codebook:2_5" version="2.5"><dataDscr>
 <var ID="V1" name="age" dcml="0"><labl>Age in years</labl>
  <valrng><range UNITS="INT" min="0" max="120"/></valrng><sumStat type="max">97</sumStat></var>
 <var name="sex"><labl>Sex of the
   respondent</labl><catgry><catValu>1</catValu><labl>Male</labl><catStat type="freq">512</catStat></catgry>
  <catgry><catValu>2</catValu><labl>Female</labl></catgry><varFormat type="numeric"/></var>
 <var name="rent" dcml="2"><valrng><range min="0" max="3000"/></valrng></var>
 <var name="town"><catgry><catValu>north</catValu></catgry><catgry><catValu>007</catValu></catgry></var>
 <var name="only_counted"><sumStat type="min">3</sumStat><sumStat type="max">97</sumStat></var>
 <var name="words"><labl>Free text</labl><valrng><range min="1" max="2"/></valrng><varFormat type="character"/></var>
</dataDscr></codeBook>"""


def test_variables_become_columns() -> None:
    assert codebook.read(BOOK) == [
        {"name": "age", "kind": "integers", "low": 0, "high": 120, "note": "Age in years"},
        {"name": "sex", "kind": "categories", "values": [1, 2], "note": "Sex of the respondent: 1 = Male, 2 = Female"},
        {"name": "rent", "kind": "reals", "low": 0, "high": 3000, "bins": 100, "decimals": 2},
        {"name": "town", "kind": "categories", "values": ["north", "007"]},
        {"name": "only_counted"},
        {"name": "words", "note": "Free text"},
    ]


def test_statistics_are_never_read() -> None:
    assert codebook.read(BOOK) == codebook.read(
        BOOK.replace(">97<", ">55<").replace(">512<", ">9<").replace(">3<", ">1<")
    )


@pytest.mark.parametrize(
    "text",
    [
        "<codeBook",
        "<ddi:DDIInstance xmlns:ddi='ddi:instance:3_3'/>",
        "<!DOCTYPE c [<!ENTITY a 'secret'>]><codeBook><dataDscr><var name='&a;'/></dataDscr></codeBook>",
        "<codeBook><dataDscr><var/></dataDscr></codeBook>",
        "<codeBook/>",
    ],
)
def test_other_xml_is_one_sentence(text: str) -> None:
    with pytest.raises(BadSchema) as told:
        codebook.read(text)
    assert "secret" not in str(told.value) and str(told.value).endswith(".")
