import importlib.util
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUN = HERE.parent / "run"
sys.path.append(str(RUN))  # the searches, problems and jobs of the tests of runs
sys.path.append(str(HERE.parents[1] / "benchmarks"))
sys.path.append(str(HERE))

from raylets import RayCluster  # noqa: E402 - which makes Ray's settings, before anything imports Ray


@pytest.fixture(scope="session")
def ray_cluster():
    """A cluster with two CPUs; workers on it can import what tests here can."""
    if importlib.util.find_spec("ray") is None and "EVOPINN_REQUIRE_RAY" not in os.environ:
        pytest.skip("Ray is not installed")
    paths = [str(HERE), str(RUN), *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        cluster = RayCluster()
        yield cluster
        cluster.shutdown()
