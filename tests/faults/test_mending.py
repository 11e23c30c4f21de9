"""Networks that a run has lost are trained again when it is resumed."""

import shutil

import pytest
from searches import assert_same_end

import evopinn as ep
from evopinn.errors import StoredModelError

SHORTER = "evo-dpste, shorter"


def test_a_finished_run_has_its_networks_again_after_it_was_resumed(undisturbed, tmp_path):
    directory = shutil.copytree(undisturbed(SHORTER), tmp_path / "run")
    before = repr(list(ep.load(directory).evaluations()))  # a not-a-number is not equal to itself
    best = ep.load(directory).hall_of_fame[0].task
    whole, *others = sorted((directory / "weights").glob("*.safetensors"))
    whole.with_suffix(".json").unlink()
    for path in others:
        path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(StoredModelError, match=f"damaged.* `evopinn resume {directory}`"):
        ep.load(directory).weights(best)
    found = ep.resume(directory, workers=1, progress=False)
    assert found.state == "finished"
    assert_same_end(directory, undisturbed(SHORTER))
    assert repr(list(found.evaluations())) == before
