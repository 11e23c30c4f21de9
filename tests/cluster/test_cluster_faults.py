"""A node of a Ray cluster is lost while a search runs on it, and another joins; at random in `make chaos`."""

import random
import sys
from pathlib import Path

from searches import assert_same_end, undisturbed_run

sys.path.append(str(Path(__file__).parents[1] / "faults"))


def test_a_node_that_is_lost_in_a_generation_and_another_that_joins_change_nothing(ray_cluster, tmp_path):
    from losses import lose_nodes
    from scene import SEARCH

    losses, at_the_end = lose_nodes(ray_cluster, tmp_path / "run", random.Random(5), most=1)
    assert [at_the_end > before for before in losses] == [True]
    assert_same_end(tmp_path / "run", undisturbed_run(tmp_path, SEARCH))
