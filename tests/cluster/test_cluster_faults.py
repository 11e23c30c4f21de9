"""A node of a Ray cluster is lost while a search runs on it, and another joins."""

import random
import sys
from pathlib import Path

from searches import final_state, settled_count, undisturbed_run, wait_until

sys.path.append(str(Path(__file__).parents[1] / "faults"))

CPUS = 3  # more than other nodes have, so that all of the search runs on the nodes that come and go
PATIENCE = 300


def test_a_node_that_is_lost_in_a_generation_and_another_that_joins_change_nothing(ray_cluster, tmp_path):
    from scene import SEARCH, Scene

    node = ray_cluster.add_node(cpus=CPUS)
    more = ["--cluster", ray_cluster.address, "--cpus-per-worker", CPUS]
    with Scene(tmp_path / "run", random.Random(5), more=more) as scene:
        scene.await_moment()
        ray_cluster.kill_node(node)
        wait_until(lambda: "has left" in scene.said() or scene.has_ended, "the loss to be seen", PATIENCE)
        scene.look()
        before = settled_count(scene.directory)
        another = ray_cluster.add_node(cpus=CPUS)
        scene.finish()
    ray_cluster.kill_node(another)
    assert settled_count(tmp_path / "run") > before
    assert final_state(tmp_path / "run") == final_state(undisturbed_run(tmp_path, SEARCH))
