import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jobs
import pytest

from evopinn.errors import RunError
from evopinn.training import Status
from evopinn.workers.pool import DEATHS, LocalPool


def all_ended(workers, seconds=30):
    """Everything that is reported until nothing is outstanding."""
    ended = []
    until = time.monotonic() + seconds
    while workers.outstanding:
        assert time.monotonic() < until, f"not done after {seconds} s: {ended}"
        ended += workers.wait(1)
    return ended


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def kill(pid):
    """Kill a worker and wait until it is dead with all its threads."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def eventually(condition, seconds):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


@pytest.fixture(scope="module")
def workers():
    with LocalPool(jobs.misbehaving, count=2, accept=lambda _, value: value != "nonsense") as workers:
        yield workers


@pytest.fixture(scope="module")
def limited_workers():
    with LocalPool(jobs.misbehaving, count=1, memory_limit=300 << 20) as workers:
        yield workers


def test_each_job_is_returned_once_with_its_number():
    with LocalPool(jobs.adder, (100,), count=2) as workers:
        for number in range(50):
            workers.submit(number, 7 * number, deadline_seconds=30)
        assert workers.outstanding == 50
        ended = all_ended(workers)
        assert {each.number: each.value for each in ended} == {n: 100 + 7 * n for n in range(50)}
        assert len(ended) == 50
        assert {each.attempt for each in ended} == {1}
        assert {each.worker for each in ended} <= {1, 2}
        assert workers.wait(5) == []  # at once: nothing is outstanding


# What a job does, and what is reported of it.
DEADLY = {
    "segfault": (Status.CRASHED, "SIGSEGV"),
    "wild_pointer": (Status.CRASHED, "jobs.py"),  # the last words say where
    "leave": (Status.CRASHED, "exit code 7"),
    "hang": (Status.DEADLINE, "0.3 s"),
    "hold": (Status.DEADLINE, "0.3 s"),
    "half_a_message": (Status.DEADLINE, "0.3 s"),
    "garbage": (Status.GARBAGE, "was announced"),
    "no_pickle": (Status.GARBAGE, "could not be read"),
    "nonsense": (Status.GARBAGE, "'nonsense'"),
}


@pytest.mark.parametrize("act", DEADLY)
def test_a_job_that_ends_its_worker_is_tried_again_elsewhere(workers, tmp_path, act):
    kind, detail = DEADLY[act]
    workers.submit(1, ("once", act, str(tmp_path / "mark")), 0.3 if kind is Status.DEADLINE else 20)
    failed, done = all_ended(workers)
    assert failed.number == done.number == 1
    assert (failed.failure.status, failed.retried, failed.poison, failed.attempt) == (kind, True, False, 1)
    assert detail in failed.failure.detail
    assert (done.value, done.failure, done.attempt, done.poison) == ("well", None, 2, False)
    assert failed.worker not in workers.pids


@pytest.mark.parametrize("act", ["leave", "no_pickle"])
def test_a_job_that_ends_three_workers_is_poison_and_others_go_on(workers, act):
    workers.submit(0, (act,), 20)
    for number in range(1, 9):
        workers.submit(number, ("process_id",), 20)
    ended = all_ended(workers)
    poison = [each for each in ended if each.number == 0]
    assert [each.attempt for each in poison] == list(range(1, DEATHS + 1))
    assert [each.retried for each in poison] == [True, True, False]
    assert [each.poison for each in poison] == [False, False, True]
    assert len({each.worker for each in poison}) == DEATHS
    assert sorted(each.number for each in ended if each.failure is None) == list(range(1, 9))


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ("raise_it", "ZeroDivisionError: by zero, of course"),
        ("exit_politely", "SystemExit: enough"),
        ("unpicklable", "cannot pickle"),
    ],
)
def test_an_exception_is_reported_at_once_and_costs_no_worker(workers, act, says):
    before = all_ended_pid(workers)
    workers.submit(3, (act,), 20)
    (ended,) = all_ended(workers)
    assert ended.failure.status is Status.RAISED
    assert says in ended.failure.detail
    assert not ended.retried
    assert not ended.poison
    assert workers.pids == before


def all_ended_pid(workers):
    """The workers' ids once all of them are ready."""
    for number in range(2):
        workers.submit(number, ("process_id", 0.05), 20)
    all_ended(workers)
    return workers.pids


def test_a_worker_killed_from_outside_is_replaced(workers):
    before = all_ended_pid(workers)
    workers.submit(5, ("process_id", 1.0), 20)
    assert workers.wait(0.1) == []
    for pid in before.values():  # the idle one too
        kill(pid)
    failed, done = all_ended(workers)
    assert failed.failure.status is Status.CRASHED
    assert "SIGKILL" in failed.failure.detail
    assert done.value in workers.pids.values()
    assert len(workers.pids) == 2
    assert not set(workers.pids.values()) & set(before.values())


def test_a_worker_that_died_while_idle_is_not_counted_against_the_next_job(workers):
    for pid in all_ended_pid(workers).values():
        kill(pid)
    workers.submit(6, ("process_id",), 20)
    (ended,) = all_ended(workers)
    assert (ended.attempt, ended.failure) == (1, None)


def test_a_job_that_is_tried_again_comes_before_those_that_wait(tmp_path):
    with LocalPool(jobs.misbehaving) as workers:
        workers.submit(0, ("once", "leave", str(tmp_path / "mark")), 20)
        for number in (1, 2):
            workers.submit(number, ("process_id",), 20)
        assert [each.number for each in all_ended(workers)] == [0, 0, 1, 2]


@pytest.mark.parametrize("act", ["eat", "gulp", "fill_gpu"])
def test_memory_is_limited_whether_taken_slowly_or_at_once(limited_workers, act):
    limited_workers.submit(2, (act,), 30)
    ended = all_ended(limited_workers)
    assert [each.failure.status for each in ended] == [Status.MEMORY] * DEATHS
    assert ended[-1].poison


def test_a_job_may_print_without_end_and_the_driver_says_nothing(workers, capfd):
    workers.submit(4, ("chatter",), 30)
    (ended,) = all_ended(workers)
    assert ended.value == "well"
    assert max(os.fstat(worker._output.fileno()).st_size for worker in workers._workers) <= 1 << 22
    assert capfd.readouterr() == ("", "")


def test_workers_compute_on_one_thread_and_leave_ctrl_c_to_the_driver(workers):
    workers.submit(0, ("environment",), 30)
    (ended,) = all_ended(workers)
    assert ended.value == (1, "1", True)


def test_messages_of_any_size_pass_both_ways(workers):
    # Larger than any socket's buffer: both ends have to go on with a message that was begun.
    data = os.urandom(30 << 20)
    for number in range(2):
        workers.submit(number, ("payload_size", data), 30)
        workers.submit(number + 2, ("large", len(data)), 30)
    ended = {each.number: each.value for each in all_ended(workers)}
    assert ended == {0: len(data), 1: len(data), 2: bytes(len(data)), 3: bytes(len(data))}


def test_a_worker_that_does_not_read_holds_up_nobody(workers):
    pids = all_ended_pid(workers)
    stopped = min(pids)
    os.kill(pids[stopped], signal.SIGSTOP)
    workers.submit(0, ("payload_size", bytes(30 << 20)), 1.0)
    for number in range(1, 6):
        workers.submit(number, ("process_id",), 20)
    ended = all_ended(workers)
    first = next(each for each in ended if each.failure is not None)
    assert (first.number, first.worker, first.failure.status) == (0, stopped, Status.DEADLINE)
    assert [each.number for each in ended[:5]] == [1, 2, 3, 4, 5]
    assert ended[-1].value == 30 << 20


def test_deadlines_are_of_the_clock_that_is_given():
    now = [0.0]
    with LocalPool(jobs.misbehaving, clock=lambda: now[0]) as workers:
        workers.submit(0, ("process_id",), 3600)
        while not workers.wait(0):
            time.sleep(0.01)
        workers.submit(1, ("hang",), 3600)
        assert workers.wait(0) == []
        now[0] += 3599
        assert workers.wait(0) == []
        now[0] += 1
        (ended,) = workers.wait(0)
        assert ended.failure.status is Status.DEADLINE
        assert ended.seconds == 3600


def test_a_result_that_is_there_counts_even_if_it_is_looked_at_late():
    with LocalPool(jobs.doubler) as workers:
        workers.submit(0, 1, 20)
        all_ended(workers)
        workers.submit(1, 21, 0.3)
        time.sleep(0.5)  # the driver was busy, or stopped with Ctrl-Z
        (ended,) = workers.wait(5)
        assert ended.value == 42


@pytest.mark.parametrize(
    ("setup", "arguments", "says"),
    [
        (jobs.failing_setup, (), "ValueError: no such problem"),
        (jobs.doubler, ("too many",), "TypeError"),
        (jobs.dying_setup, (), "3 workers in a row .* SIGKILL"),
        (jobs.slow_setup, (60,), "3 workers in a row .* not ready after 0.3 s"),
    ],
)
def test_workers_that_cannot_be_set_up_are_an_error(setup, arguments, says):
    startup = 0.3 if setup is jobs.slow_setup else 60
    with LocalPool(setup, arguments, startup_seconds=startup) as workers:
        workers.submit(0, 1, 20)
        with pytest.raises(RunError, match=f"(?s){says}"):
            all_ended(workers)


def test_workers_that_take_long_to_be_ready_are_told_of_once():
    now, said = [0.0], []
    options = {"count": 2, "startup": "loading the problem heat", "say": said.append}
    with LocalPool(jobs.slow_setup, (60,), clock=lambda: now[0], **options) as workers:
        workers.submit(0, 1, 20)
        for seconds, told in [(14, 0), (15, 1), (60, 1), (120, 1), (134, 1), (135, 2)]:
            now[0] = float(seconds)
            assert workers.wait(0) == []
            assert len(said) == told
    for text, who in zip(said, ("1, 2", "3, 4"), strict=True):
        assert re.search(rf"workers {who} .*loading the problem heat .*\b15 s\b.*\b120 s\b", text)


def test_a_setup_that_workers_cannot_import_is_refused():
    def local():
        return jobs.doubler()

    with pytest.raises(RunError, match=r"setup .*local"):
        LocalPool(local)
    lost = type("Lost", (), {"__module__": "__main__"})
    with pytest.raises(RunError, match=r"\bLost\b.*module"):
        LocalPool(lost)
    with pytest.raises(RunError, match=r"workers is 0\b.*\b1\b"):
        LocalPool(jobs.doubler, count=0)


def test_closing_ends_all_workers_even_stopped_ones():
    workers = LocalPool(jobs.misbehaving, count=2)
    workers.submit(0, ("hang",), 100)
    workers.submit(1, ("process_id",), 100)
    assert workers.wait(20)
    pids = list(workers.pids.values())
    os.kill(pids[0], signal.SIGSTOP)
    since = time.monotonic()
    workers.close()
    assert time.monotonic() - since < 3
    assert not any(map(alive, pids))


DRIVER = """
import sys, time
sys.path.insert(0, {folder!r})
import jobs
from evopinn.workers.pool import LocalPool
workers = LocalPool(jobs.misbehaving, count=2)
workers.submit(0, ("process_id",), 100)
while not workers.wait(1): pass
workers.submit(1, ({act!r},), 100)
time.sleep(0.3)  # until it is at it
print(*workers.pids.values(), flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize(
    ("how", "act"),
    [
        (signal.SIGKILL, "hang"),
        (signal.SIGKILL, "hold"),
        (signal.SIGTERM, "hang"),
        (signal.SIGINT, "hang"),
    ],
)
def test_nothing_is_left_running_when_the_driver_dies(how, act):
    program = DRIVER.format(folder=str(Path(jobs.__file__).parent), act=act)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as driver:
        pids = [int(word) for word in driver.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(alive, pids))
        driver.send_signal(how)
        driver.wait(10)
        assert eventually(lambda: not any(map(alive, pids)), seconds=1)


def test_a_job_costs_less_than_a_millisecond():
    with LocalPool(jobs.doubler, count=2) as workers:
        for number in range(2):
            workers.submit(number, number, 30)
        all_ended(workers)
        since = time.perf_counter()
        for number in range(1000):
            workers.submit(number, number, 30)
        assert len(all_ended(workers)) == 1000
        assert time.perf_counter() - since < 1
