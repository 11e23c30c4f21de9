"""A search is killed, in whole and in parts, and ends as if nothing had happened."""

import random
import signal
import sys
import threading
import time

import pytest
from searches import (
    PATIENCE,
    PROBLEM,
    assert_no_worker_is_left,
    assert_same_end,
    attempts,
    command,
    evopinn,
    kill,
    settled_count,
    started,
    wait_until,
    workers_of,
)

import evopinn as ep
from evopinn.store.store import Store

LONGER = "evo-dpste, longer"
WORKER_KILLS = (2, 1, 1)


def begin_or_resume(directory, which):
    """What a person would do: begin the search unless it has begun, else go on with it."""
    return ["resume", directory, "--no-report"] if directory.exists() else command(directory, which)


@pytest.mark.parametrize(
    ("which", "moments"),
    [("evo-dpste with options", [11, 19]), ("bo-fcnet", [5, 12])],
)
def test_whatever_the_method_a_killed_search_ends_as_if_it_had_not_been(
    undisturbed, tmp_path, which, moments
):
    """Killed in the second and third generation, whose elitists go on from states; between proposals."""
    directory = tmp_path / "run"
    for settled in moments:
        with evopinn(*begin_or_resume(directory, which)) as driver:
            wait_until(lambda: settled_count(directory) >= settled, "progress")  # noqa: B023
            driver.send_signal(signal.SIGKILL)
            driver.wait(PATIENCE)
        assert ep.load(directory).state == "stopped"
    ep.resume(directory, progress=False)
    assert_same_end(directory, undisturbed(which))


@pytest.mark.parametrize("which", ["random, longer", "evolution, longer", "bo-fcnet"])
def test_whatever_the_method_and_the_moment_kills_change_nothing(undisturbed, tmp_path, which):
    """A worker is killed and then its driver; the search goes on, and another worker is killed."""
    directory = tmp_path / "run"
    total = len(attempts(undisturbed(which)))
    seed = random.SystemRandom().randrange(2**32)
    moments = random.Random(seed)
    with evopinn(*command(directory, which, workers=2)) as driver:
        kill_a_worker(driver, directory, moments, moments.randrange(total // 4))
        settled = moments.randrange(total // 4, total // 2)
        wait_until(lambda: settled_count(directory) >= settled, f"progress (seed {seed})")
        time.sleep(moments.uniform(0, 0.1))
        driver.send_signal(signal.SIGKILL)
        driver.wait(PATIENCE)
        assert_no_worker_is_left(driver.pid)
    before = settled_count(directory)
    assert settled <= before < total, f"seed {seed}"
    with evopinn("resume", directory, "--no-report", "--workers", 2) as driver:
        kill_a_worker(driver, directory, moments, before + 1)
        _, err = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, f"seed {seed}: {err}"
    assert_same_end(directory, undisturbed(which), f"(seed {seed})")


def kill_a_worker(driver, directory, moments, settled):
    """Kill one of the workers once so many trainings are settled."""
    wait_until(lambda: settled_count(directory) >= settled and workers_of(driver.pid), "a worker at work")
    kill(moments.choice(workers_of(driver.pid)))


@pytest.mark.parametrize("request_to_end", [signal.SIGINT, signal.SIGTERM])
def test_a_search_can_be_stopped_while_its_problem_is_loaded(undisturbed, tmp_path, request_to_end):
    """Nobody waits for a file that takes a minute, neither at the beginning nor when a run goes on."""
    problem, directory = tmp_path / "slow_problem.py", tmp_path / "run"
    config = (undisturbed("evo-dpste") / "config.toml").read_text().replace(PROBLEM, str(problem))
    Store.create(directory, config, {}).close()
    begun, resumed = ["search", problem, "--run", tmp_path / "new"], ["resume", directory]
    for words, said in [(begun, "nothing was written"), (resumed, f"evopinn resume {directory}")]:
        mark = tmp_path / words[0]
        problem.write_text(f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\ntime.sleep(60)\n")
        with evopinn(*words) as driver:
            wait_until(mark.exists, "the problem to be loaded")
            driver.send_signal(request_to_end)
            _, err = driver.communicate(timeout=20)
        assert driver.returncode == 130
        assert said in err
    assert not (tmp_path / "new").exists()


def test_workers_that_are_killed_are_replaced(undisturbed, tmp_path):
    directory = tmp_path / "run"
    seed = random.SystemRandom().randrange(2**32)
    with evopinn(*command(directory, LONGER, workers=2)) as driver:
        killer = threading.Thread(target=kill_workers, args=(driver, directory, random.Random(seed)))
        killer.start()
        _, err = driver.communicate(timeout=PATIENCE)
        killer.join()
    assert driver.returncode == 0, f"seed {seed}: {err}"
    assert_same_end(directory, undisturbed(LONGER), f"(seed {seed})")
    killed = [entry for entry in attempts(directory) if not entry.final]
    assert 1 <= len(killed) <= sum(WORKER_KILLS), f"seed {seed}"
    for entry in killed:
        assert entry.status == "crashed"
        assert "SIGKILL" in entry.note


def kill_workers(driver, directory, moments):
    """Kill both workers, and then one, now and then.

    Trainings end in between, so that none is killed three times and no three workers are in a row while they
    start: either would be given up, and rightly so.
    """
    settled = 0
    for count in WORKER_KILLS:
        while settled_count(directory) < settled + 4:
            if driver.poll() is not None:
                return
            time.sleep(0.01)
        settled = settled_count(directory)
        time.sleep(moments.uniform(0, 0.3))
        workers = workers_of(driver.pid)
        for worker in moments.sample(workers, min(count, len(workers))):
            kill(worker)


SCRIPT = """
import torch
import evopinn as ep

frequency = 3.0
problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u, x: u.xx + frequency * u,
    conditions=[ep.Boundary(lambda u, x: u - torch.cos(x), weight=10)],
    points=ep.Grid(interior=20, boundary=2),
)
result = ep.search(
    problem,
    schedule=ep.Schedule((12, 8, 4), (10, 25, 50)),
    settings={"candidates": 1, "evaluations": 1},
    workers=1,
    run="mine",
    progress=False,
)
print(result.state, flush=True)
"""


def test_a_script_goes_on_where_it_was(tmp_path):
    """Its problem is an object with functions of its own, which only the script itself has."""
    (tmp_path / "script.py").write_text(SCRIPT)
    run = tmp_path / "runs" / "mine"

    def script():
        return started(sys.executable, "script.py", cwd=tmp_path)

    with script() as first:
        wait_until(lambda: settled_count(run) > 2, "progress")
        first.send_signal(signal.SIGINT)
        assert first.communicate(timeout=PATIENCE) == ("stopped\n", "")
    assert first.returncode == 0
    before = settled_count(run)
    with script() as second:
        assert second.communicate(timeout=PATIENCE) == ("finished\n", "")
    recorded = attempts(run)
    assert len(recorded) == settled_count(run) == 12 + (8 + 2) + (4 + 1) + 1 > before
    with script() as third:
        assert third.communicate(timeout=PATIENCE) == ("finished\n", "")
    assert attempts(run) == recorded
