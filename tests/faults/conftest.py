import os
import sys
from pathlib import Path

import pytest

# The searches and problems of the tests of runs.
sys.path.append(str(Path(__file__).parents[1] / "run"))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The directory of a search that nothing happened to, by its name."""
    from searches import undisturbed_run

    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    return lambda which: undisturbed_run(place, which)


@pytest.fixture
def place():
    """A directory for a run, on a small file system of its own if this process may mount one."""
    from mounting import small_disk

    with small_disk() as place:
        yield place
