"""A search on a Ray cluster whose nodes are lost, and others join."""

import time
from contextlib import suppress

from scene import SEARCH, Over, Scene
from searches import settled_count

CPUS = 3  # more than other nodes have, so that all of the search runs on the nodes that come and go


def lose_nodes(cluster, directory, rng, most, until=float("inf")):
    """Have a search done while the only node with room is killed now and then, and another joins.

    Args:
        cluster: A `RayCluster`.
        directory: Where the run will be.
        rng: Draws the moments.
        most: Nodes that are lost, at most.
        until: From when on none is.

    Returns:
        How many evaluations were recorded at each loss, and how many at the end.
    """
    losses = []
    more = ["--cluster", cluster.address, "--cpus-per-worker", CPUS]
    node = cluster.add_node(cpus=CPUS)
    try:
        with Scene(directory, rng, SEARCH, more=more) as scene:
            with suppress(Over):
                while len(losses) < most and time.monotonic() < until:
                    scene.await_moment()
                    cluster.kill_node(node)
                    node = None
                    scene.wait_until(lambda: scene.said().count("has left") > len(losses), "the loss")
                    scene.look()
                    losses.append(settled_count(directory))
                    node = cluster.add_node(cpus=CPUS)
            scene.finish()
    finally:
        if node is not None:
            cluster.kill_node(node)
    return losses, settled_count(directory)
