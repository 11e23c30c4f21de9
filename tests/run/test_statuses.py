"""Each status that can be recorded has a meaning, and the same one wherever it is told."""

import pytest

from evopinn.run.ended import FailureKind
from evopinn.run.statuses import MEANINGS, POISON, TOO_COSTLY
from evopinn.training import Status


def test_there_is_a_meaning_of_every_status_and_of_nothing_else() -> None:
    assert set(MEANINGS) == {*map(str, Status), *map(str, FailureKind), TOO_COSTLY, POISON}
    assert all(MEANINGS.values())


@pytest.mark.parametrize("status", [*Status, *FailureKind], ids=str)
def test_a_status_means_the_same_in_a_run_as_where_it_comes_from(status: Status | FailureKind) -> None:
    assert MEANINGS[str(status)] == status.meaning
