"""A Ray cluster on this host, for tests and for chaos."""

import os
import secrets

_STORE = 80_000_000  # bytes of shared memory of a node
_PATIENCE = 120
_SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": os.environ.get("RAY_AUTH_TOKEN") or secrets.token_hex(16),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ADDRESS": "",
    "RAY_raylet_start_wait_time_s": "120",  # a machine that does other things too
}
os.environ.update(_SETTINGS)  # now: Ray reads them once, when it is first imported


class RayCluster:
    """A Ray cluster on this host, each node a raylet of its own."""

    def __init__(self):
        from ray.cluster_utils import Cluster

        options = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": _STORE}
        self._cluster = Cluster(initialize_head=True, head_node_args=options)
        self.address = self._cluster.address

    def add_node(self, cpus=1, gpus=0, **environment):
        """Have a node join; what it was given is for `kill_node`."""
        return self._cluster.add_node(
            wait=True, num_cpus=cpus, num_gpus=gpus, object_store_memory=_STORE, env_vars=environment
        )

    def kill_node(self, node):
        """Kill a node's raylet, as a loss of power would, and wait until the others know."""
        self._cluster.remove_node(node, allow_graceful=False)
        self._cluster.wait_for_nodes(timeout=_PATIENCE)

    def shutdown(self):
        self._cluster.shutdown()
