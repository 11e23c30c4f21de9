"""Searches on a Ray cluster that really runs, on this host."""

import os
import pickle
import re
import signal
import time
from collections import Counter
from pathlib import Path

import jobs
import pytest
from searches import (
    PROBLEM,
    SEARCHES,
    assert_same_end,
    command,
    evopinn,
    kill,
    processes,
    settled_count,
    undisturbed_run,
    wait_until,
)

import evopinn as ep
from evopinn.errors import RunError
from evopinn.training import Status
from evopinn.workers.cluster.cluster import Cluster
from evopinn.workers.cluster.messages import WorkerResources

SEARCH = "evo-dpste with options"
PATIENCE = 300.0
MEMORY = 2 << 30
ONE_CPU = WorkerResources()


@pytest.fixture
def said():
    return []


@pytest.fixture
def hire(ray_cluster, said):
    """Workers on the cluster that do jobs of these tests."""
    connected = []

    def hire(setup, *arguments, count=None, demand=ONE_CPU):
        cluster = Cluster(ray_cluster.address, demand, count, said.append)
        connected.append(cluster)
        return cluster.pool(
            setup,
            arguments,
            memory_limit=MEMORY,
            startup_seconds=120.0,
            pack=pickle.dumps,
            unpack=lambda _, value: pickle.loads(value),
        )

    yield hire
    for cluster in connected:
        cluster.close()


def done(workers, count):
    """How so many jobs came out, by their number; the attempts before the last one left out."""
    final, retried, last = {}, [], time.monotonic() + PATIENCE
    while len(final) < count:
        assert time.monotonic() < last, f"only {sorted(final)} came back"
        for ended in workers.wait(5):
            if ended.retried:
                retried.append(ended)
            else:
                final[ended.number] = ended
    return final, retried


@pytest.fixture
def local_run(tmp_path_factory):
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    return undisturbed_run(place, SEARCH)


def test_a_search_on_a_cluster_is_the_same_to_the_last_bit(ray_cluster, local_run, tmp_path):
    """Trainings continue earlier ones too: states travel, since nodes do not see the run's directory."""
    method, schedule, settings = SEARCHES[SEARCH]
    result = ep.search(
        PROBLEM,
        method=method,
        schedule=schedule,
        settings=settings,
        seed=3,
        cluster=ray_cluster.address,
        workers=2,
        run=tmp_path / "run",
        progress=False,
    )
    assert result.state == "finished"
    assert_same_end(tmp_path / "run", local_run)


def trainers():
    """Worker processes that a process of Ray has started."""
    found = []
    for pid in processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            status = Path(f"/proc/{pid}/status").read_text()
            parent = int(status.partition("PPid:")[2].split()[0])
            above = Path(f"/proc/{parent}/cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if b"evopinn.workers.process" in words and above.startswith(b"ray::"):
            found.append(pid)
    return set(found)


def test_a_killed_driver_leaves_nothing_on_the_cluster_and_its_run_goes_on_at_home(
    ray_cluster, local_run, tmp_path
):
    directory, others = tmp_path / "run", trainers()
    words = [*command(directory, SEARCH, workers=2), "--cluster", ray_cluster.address, "--quiet"]
    with evopinn(*words) as driver:
        wait_until(lambda: settled_count(directory) > 2 or driver.poll() is not None, "trainings", PATIENCE)
        assert trainers() - others
        kill(driver.pid)
    wait_until(lambda: not trainers() - others, "the workers to end", 60)
    result = ep.resume(directory, cluster="local", workers=1, progress=False)
    assert result.state == "finished"
    assert_same_end(directory, local_run)


def test_a_stopped_search_says_how_to_go_on_and_leaves_nothing(ray_cluster, tmp_path):
    directory, others = tmp_path / "run", trainers()
    words = [*command(directory, "evo-dpste, longer", workers=2), "--cluster", ray_cluster.address]
    with evopinn(*words) as driver:
        wait_until(lambda: settled_count(directory) > 0 or driver.poll() is not None, "trainings", PATIENCE)
        driver.send_signal(signal.SIGINT)
        _, told = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 130, told
    assert "evopinn resume" in told
    assert "Traceback" not in told
    assert "ray" not in told.replace("connected to a Ray cluster", "")
    wait_until(lambda: not trainers() - others, "the workers to end", 60)


def test_jobs_that_misbehave_end_as_on_local_workers(hire, tmp_path):
    workers = hire(jobs.misbehaving, count=2)
    work = [
        (("segfault",), 60, Status.CRASHED, "SIGSEGV"),
        (("hang",), 1, Status.DEADLINE, "not done after 1 s"),
        (("gulp",), 60, Status.MEMORY, "MemoryError"),
        (("raise_it",), 60, Status.RAISED, "by zero, of course"),
        (("once", "leave", str(tmp_path / "mark")), 60, None, "well"),
        (("payload_size", bytes(3_000_000)), 60, None, 3_000_000),
    ]
    for number, (payload, seconds, *_) in enumerate(work):
        workers.submit(number, payload, seconds, 0.1)
    final, retried = done(workers, len(work))
    for number, (_, _, kind, word) in enumerate(work):
        ended = final[number]
        if kind is None:
            assert ended.value == word
        else:
            assert ended.failure.status is kind
            assert word in ended.failure.detail
    attempts = {number: final[number].attempt for number in final}
    assert attempts == {0: 3, 1: 3, 2: 3, 3: 1, 4: 2, 5: 1}
    assert sorted(each.number for each in retried) == [0, 0, 1, 1, 2, 2, 4]


def test_trainings_have_one_thread(hire):
    workers = hire(jobs.misbehaving, count=1)
    workers.submit(0, ("environment",), 60)
    assert done(workers, 1)[0][0].value == (1, "1", True)


def test_a_lost_node_is_made_up_for_by_another(hire, ray_cluster, said, tmp_path):
    """The node is lost in the middle of a job, which the one that joins does again: no fault of the job."""
    node, mark = ray_cluster.add_node(cpus=4), tmp_path / "begun"
    workers = hire(jobs.misbehaving, count=100, demand=WorkerResources(cpus=4))  # no other node has so many
    workers.submit(0, ("once", "process_id", str(mark), 900.0), 900)
    wait_until(lambda: not workers.wait(1) and mark.exists(), "the job to begin", PATIENCE)
    ray_cluster.kill_node(node)
    wait_until(lambda: not workers.wait(1) and any("has left" in each for each in said), "the loss", PATIENCE)
    another = ray_cluster.add_node(cpus=4)
    final, retried = done(workers, 1)
    ray_cluster.kill_node(another)
    assert not retried
    assert (final[0].value, final[0].attempt) == ("well", 1)
    told = "\n".join(said)
    assert re.search(r"\blost\b.*\b1 training\b", told)
    assert "waits" in told
    assert re.search(r"\bjoined\b.*\b1 worker\b", told)


def test_what_a_node_lacks_is_said_with_its_name_before_anything_is_done(hire, ray_cluster, tmp_path):
    metadata = tmp_path / "evopinn-0.0.9.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: evopinn\nVersion: 0.0.9\n")
    node = ray_cluster.add_node(cpus=3, gpus=1, PYTHONPATH=str(tmp_path))
    try:
        with pytest.raises(RunError) as refused:
            hire(jobs.doubler, demand=WorkerResources(cpus=1, gpus=0.25))
    finally:
        ray_cluster.kill_node(node)
    told = str(refused.value)
    assert re.search(rf"\({node.node_id[:6]}\): evopinn .*0\.0\.9.*{ep.__version__}", told)
    assert "CUDA" in told


PRETENDING = """
import importlib.util, sys


class Pretend:
    def find_spec(self, name, path, target=None):
        if name != "torch.cuda":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_pretend(module):
            execute(module)
            module.is_available = lambda: True
            module.get_device_name = lambda number: "pretended"

        spec.loader.exec_module = execute_and_pretend
        return spec


sys.meta_path.insert(0, Pretend())
"""
"""Makes a node believe that there is a GPU."""


def test_four_workers_share_two_gpus_and_each_sees_its_own_only(hire, ray_cluster, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(PRETENDING)
    paths = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    node = ray_cluster.add_node(cpus=8, gpus=2, PYTHONPATH=paths)
    try:
        workers = hire(jobs.misbehaving, demand=WorkerResources(cpus=1, gpus=0.5))
        for number in range(8):
            workers.submit(number, ("meet", str(tmp_path), 4), 120)
        final, _ = done(workers, 8)
    finally:
        ray_cluster.kill_node(node)
    for together, own in (ended.value for ended in final.values()):
        assert Counter(together) == {"0": 2, "1": 2}
        assert own in {"0", "1"}  # one that comes later may be another process on the same place


def test_a_setup_that_fails_is_told_with_the_node(hire):
    with pytest.raises(RunError, match=r"\S+ \(\w{6}\): [\s\S]*no such problem"):  # as the setup says
        hire(jobs.failing_setup)


def test_a_demand_that_no_node_meets_is_refused(hire):
    with pytest.raises(RunError, match=r"\b1 CPU and 1 GPU \(.*2 CPU, 0 GPU\)"):
        hire(jobs.doubler, demand=WorkerResources(1.0, 1.0))
