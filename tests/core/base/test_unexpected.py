from core.base.unexpected import noted


def broken(cell: str) -> None:
    raise KeyError(cell)


def test_kind_file_and_line_are_logged_and_no_value(caplog):
    try:
        broken("cell 4711")
    except KeyError as problem:
        assert noted(problem) == "KeyError"
    line = broken.__code__.co_firstlineno + 1
    assert f"unexpected KeyError at tests/core/base/test_unexpected.py:{line} < tests/core/base/" in caplog.text
    assert "4711" not in caplog.text


def test_an_error_of_a_library_is_placed_by_the_end_of_its_path(caplog):
    import json

    try:
        json.loads("{4711")
    except ValueError as problem:
        noted(problem)
    assert "json/decoder.py:" in caplog.text
    assert "tests/core/base/test_unexpected.py:" in caplog.text
    assert "4711" not in caplog.text


def test_an_error_that_was_never_raised_has_no_place(caplog):
    assert noted(ValueError("4711")) == "ValueError"
    assert "an unknown place" in caplog.text
