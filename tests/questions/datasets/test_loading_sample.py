from __future__ import annotations

from pytest_ragcheck.questions.datasets.loading import rank, sample
from tests.making import a_question

MANY = tuple(a_question(f"q{number}") for number in range(200))


def ids(size: int, seed: int = 0) -> list[str]:
    return [question.id for question in sample(MANY, size, seed=seed)]


def test_a_sample_is_the_same_in_every_run_and_in_the_order_of_the_file() -> None:
    assert ids(5) == ids(5) == ["q16", "q48", "q133", "q136", "q165"]


def test_a_larger_sample_has_the_whole_of_a_smaller_one() -> None:
    sets = [set(ids(size)) for size in (1, 5, 50, 199)]
    assert [len(each) for each in sets] == [1, 5, 50, 199]
    assert sets == sorted(sets, key=len)
    assert sets[0] < sets[1] < sets[2] < sets[3]


def test_neither_the_order_of_the_file_nor_other_questions_matter() -> None:
    taken = set(ids(20))
    assert {question.id for question in sample(MANY[::-1], 20, seed=0)} == taken
    kept = [question for question in MANY if question.id in taken or int(question.id[1:]) % 2]
    assert {question.id for question in sample(kept, 20, seed=0)} == taken


def test_another_seed_takes_others() -> None:
    assert set(ids(20)) != set(ids(20, seed=1))
    assert rank("q1", 0) != rank("q1", 1)


def test_no_more_than_all_can_be_taken() -> None:
    assert sample(MANY, 200, seed=0) == sample(MANY, 1000, seed=3) == MANY
