import duckdb
import pytest

from core.base.errors import BadFile, BadParameter
from core.table.sentences import without_cell_values


@pytest.mark.parametrize(
    "error",
    [
        duckdb.ConversionException("could not convert 'secret 17' to INT32"),
        duckdb.OutOfMemoryException("secret 17"),
        MemoryError("secret 17"),
        ValueError("secret 17"),
        KeyError("secret 17"),
    ],
)
def test_nothing_of_the_old_error_is_left(error):
    @without_cell_values
    def work():
        raise error

    with pytest.raises(BadFile) as problem:
        work()
    assert "secret" not in str(problem.value)
    assert problem.value.__cause__ is None
    assert problem.value.__context__ is None


def test_at_most_a_line_number_is_kept():
    @without_cell_values
    def work():
        raise duckdb.InvalidInputException("CSV Error on Line: 1204\nsecret\nExpected Number of Columns: 3")

    with pytest.raises(BadFile, match=r"line 1,204") as problem:
        work()
    assert "secret" not in str(problem.value)


def test_our_own_sentences_and_results_pass():
    @without_cell_values
    def refuse():
        raise BadParameter("epsilon", "must be above 0.")

    with pytest.raises(BadParameter, match="epsilon"):
        refuse()
    assert without_cell_values(lambda: 7)() == 7
