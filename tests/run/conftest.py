import os

import pytest
from searches import undisturbed_run


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The directory of a search that nothing happened to, by its name."""
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    return lambda which: undisturbed_run(place, which)
