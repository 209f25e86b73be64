from core.base.errors import BadParameter, printable


def test_names_are_safe_for_one_line():
    assert printable("age\nDROP\x00") == "age?DROP?"
    assert len(printable("x" * 10_000)) == 60


def test_a_bad_parameter_is_named():
    problem = BadParameter("epsilon", "must be above 0.")
    assert problem.parameter == "epsilon"
    assert str(problem) == "epsilon: must be above 0."
