"""Each fault of the table once, at moments from a fixed seed; `make chaos` draws them for half an hour."""

import random
import shutil

import pytest
from scene import SEARCH, Scene
from searches import final_state
from table import FAULTS, befall, goes_on, stops

SEED = 20


def is_deadly(name):
    return FAULTS[name].meet is stops and not FAULTS[name].lasts


# A search can be stopped many times, which is cheaper than as many searches.
SERIES = {
    "killed and stopped": [name for name in FAULTS if is_deadly(name)],
    "goes on": [name for name in FAULTS if FAULTS[name].meet is goes_on],
    "files": [name for name in FAULTS if not is_deadly(name) and FAULTS[name].meet is not goes_on],
}


@pytest.mark.parametrize("series", SERIES)
def test_a_search_ends_as_if_nothing_had_befallen_it(series, undisturbed, place):
    with Scene(place / "run", random.Random(SEED)) as scene:
        for name in SERIES[series]:
            if FAULTS[name].mount and not place.is_mount():
                continue
            befall(scene, FAULTS[name])
        scene.finish()
    assert final_state(place / "run") == final_state(undisturbed(SEARCH))


def test_the_disk_that_is_filled_is_a_small_one(place):
    if not place.is_mount():
        pytest.skip("file systems cannot be mounted here, so no disk was filled")
    assert shutil.disk_usage(place).total < 100 << 20
