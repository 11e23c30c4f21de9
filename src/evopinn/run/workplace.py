"""Where the workers of a run are: on this machine, or on a cluster."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from evopinn.run.cluster.messages import Demand
from evopinn.run.cluster.site import LOCAL, Cluster
from evopinn.run.config import Config, WorkersTable


def connected(table: WorkersTable, say: Callable[[str], None]) -> AbstractContextManager[Cluster | None]:
    """The cluster that a run asks for, if it asks for one."""
    if table.cluster is None or table.cluster == LOCAL:
        return nullcontext()
    return Cluster(table.cluster, Demand(table.cpus or 1.0, table.gpus or 0.0), table.count, say)


def worker_count(table: WorkersTable, cluster: Cluster | None) -> int:
    """How many workers there are: on this machine one a core, if nothing is said."""
    if cluster is not None:
        return cluster.count
    if table.count is not None:
        return table.count
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def with_workers(config: Config, changes: Mapping[str, Any]) -> Config:
    """What a run goes on with: its workers as before but for some entries.

    Where they move, from one cluster to another or home, the old numbers mean nothing.
    """
    values, before = config.model_dump(exclude_none=True), config.workers
    moved = "cluster" in changes and changes["cluster"] != before.cluster
    kept = before.model_dump(exclude_none=True, exclude={"count", "cpus", "gpus"} if moved else None)
    return Config.of(values | {"workers": kept | dict(changes)}, "the command")
