"""Each fault of the table once, at moments from a fixed seed; `make chaos` draws them for half an hour."""

import random
import shutil
from contextlib import suppress

import pytest
from scene import SEARCH, Over, Scene
from searches import assert_same_end
from table import FAULTS, befall, goes_on, stops

SEED = 20
MOST_SEARCHES = 10


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
    to_come = [name for name in SERIES[series] if place.is_mount() or not FAULTS[name].mount]
    for attempt in range(MOST_SEARCHES):
        directory = place / f"run-{attempt}"
        with Scene(directory, random.Random(SEED + attempt)) as scene:
            with suppress(Over):  # on a fast machine it may be at its end before the next fault
                while to_come:
                    befall(scene, FAULTS[to_come[0]])
                    del to_come[0]
            scene.finish()
        assert_same_end(directory, undisturbed(SEARCH))
        if not to_come:
            return
    pytest.fail(f"{MOST_SEARCHES} searches were over before these could befall them: {to_come}")


def test_the_disk_that_is_filled_is_a_small_one(place):
    if not place.is_mount():
        pytest.skip("file systems cannot be mounted here, so no disk was filled")
    assert shutil.disk_usage(place).total < 100 << 20
