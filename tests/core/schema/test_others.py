from core.schema.attributes import Categories
from core.schema.others import WORDS, other_than


def test_a_word_is_found_for_any_list_and_makes_a_column():
    taken: list[str] = ["red"]
    for _ in range(10):
        word = other_than(taken)
        assert word not in taken
        Categories(name="colour", values=tuple(taken), other=word)
        taken.append(word)
    assert tuple(taken[1:5]) == WORDS
