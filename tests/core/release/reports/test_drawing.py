from xml.etree import ElementTree

import numpy as np

from core.release.reports.drawing import MOST_BARS, MOST_SIDE, bars, heat


def parts(figure):
    return ElementTree.fromstring(figure)


def test_a_bar_per_value_as_long_as_its_count():
    drawn = parts(bars("region", ["north", "south"], np.array([30.0, 60.0])))
    assert [bar.get("width") for bar in drawn.iter("rect")] == ["50.0", "100.0"]
    assert "60 at south" in drawn.find("div").get("aria-label")
    assert drawn.find("figcaption").text == drawn.find("div").get("aria-label")


def test_labels_cannot_become_markup():
    label = '<script>alert("x")</script>&'
    drawn = bars(label, [label], np.array([1.0])) + heat(label, [[label], [label]], np.ones((1, 1)))
    assert "<script" not in drawn
    parts(f"<both>{drawn}</both>")


def test_long_lists_are_cut_and_say_so():
    many = [str(place) for place in range(MOST_BARS + 5)]
    drawn = bars("many", many, np.ones(len(many)))
    assert len(list(parts(drawn).iter("rect"))) == MOST_BARS
    assert f"The first {MOST_BARS} of {len(many)}" in drawn
    wide = heat("wide", [["a"], [str(place) for place in range(MOST_SIDE + 1)]], np.ones((1, MOST_SIDE + 1)))
    assert len(list(parts(wide).iter("rect"))) == MOST_SIDE
    assert f"The first 1 by {MOST_SIDE}" in wide


def test_more_rows_are_darker():
    drawn = parts(heat("pair", [["a", "b"], ["c"]], np.array([[1.0], [4.0]])))
    first, second = (float(cell.get("fill-opacity")) for cell in drawn.iter("rect"))
    assert second == 1.0
    assert 0 < first < second


def test_nothing_counted_is_drawn_too():
    parts(bars("empty", ["a"], np.zeros(1)))
    parts(heat("empty", [["a"], ["b"]], np.zeros((1, 1))))
