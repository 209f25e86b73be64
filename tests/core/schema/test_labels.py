"""Labels of codes as a remark that people read."""

from core.schema.labels import LONGEST_NOTE, labelled


def test_labels_that_say_no_more_than_the_code_are_left_out() -> None:
    assert labelled("Town", [("a", "Aarau"), ("b", "b"), ("c", "")]) == "Town: a = Aarau"
    assert labelled("", []) == ""


def test_long_lists_are_cut_and_show_it() -> None:
    note = labelled("Place", [(code, f"place number {code}") for code in range(500)])
    assert len(note) <= LONGEST_NOTE and note.endswith(" …")
