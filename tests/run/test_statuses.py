"""The statuses of results, and those that only the record of a run holds."""

import json

import pytest

from evopinn.errors import StoredModelError
from evopinn.training import Status, load, save, train
from evopinn.training.status import MEANINGS


def test_every_status_has_a_meaning_of_its_own() -> None:
    assert {status.value: status.meaning for status in Status} == MEANINGS
    assert len({*MEANINGS.values()}) == len(Status)


def test_without_a_result_or_a_finite_loss_a_training_has_failed() -> None:
    with_a_loss = {status for status in Status if not status.failed}
    assert with_a_loss == {status for status in Status if status.has_result} - {Status.NOT_FINITE}


@pytest.mark.parametrize("status", Status)
def test_a_saved_network_has_the_status_of_a_result(oscillator, tmp_path, status) -> None:
    _, sidecar = save(train(oscillator, "layers=2 neurons=1 activation=x", epochs=1), tmp_path / "network")
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"status": status}))
    if status.has_result:
        assert load(tmp_path / "network").status is status
    else:
        with pytest.raises(StoredModelError, match=f"status is {status.value!r}"):
            load(tmp_path / "network")
