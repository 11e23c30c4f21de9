"""A run's database with one of its pages damaged, many times."""

import random
import shutil
from types import SimpleNamespace

from table import FAULTS, refuses

PAGES = 200


def test_no_damaged_page_goes_unnoticed(undisturbed, tmp_path):
    directory = shutil.copytree(undisturbed("evo-dpste"), tmp_path / "run")
    fault = FAULTS["database page damaged"]
    stopped = [SimpleNamespace(directory=directory, rng=random.Random(seed)) for seed in range(PAGES)]
    assert sum(refuses(scene, fault) for scene in stopped) > PAGES // 2
