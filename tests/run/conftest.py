import fcntl
import os

import pytest
from searches import searched


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The directory of a search that nothing happened to, by its name; made once for all test processes."""
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place

    def directory(which):
        path = place / f"undisturbed-{which}"
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            searched(path, which, workers=2)  # returns at once if it was done before
        return path

    return directory
