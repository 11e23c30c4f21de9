"""What the driver decides about tasks on a cluster, with a broker that is made up."""

import re

import pytest
from pretended import FIRST, SECOND, Clock, PretendedLink, workers_on

from evopinn.errors import RunError
from evopinn.training import Status
from evopinn.workers.cluster.messages import (
    AttemptEnded,
    BatchEnded,
    BatchStarted,
    ClusterNode,
    NodeUnfit,
    WorkerResources,
)
from evopinn.workers.cluster.nodes import inspect
from evopinn.workers.cluster.ray_pool import AIM, MOST, batch_size
from evopinn.workers.pool import Failure

CRASH = Failure(Status.CRASHED, "it was killed by SIGSEGV")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def link(clock):
    return PretendedLink(clock)


@pytest.fixture
def said():
    return []


@pytest.fixture
def workers(link, clock, said):
    return workers_on(link, clock, said)


def submit(workers, count, expected=None, first=0):
    for number in range(first, first + count):
        workers.submit(number, str(number), 60.0, expected)


def drain(workers, link):
    """Have everything done, and what was reported."""
    ended = []
    while workers.outstanding:
        for serial in link.placed:
            link.finish(serial)
        ended += workers.wait(5)
    return ended


def test_every_job_is_done_once_and_reported_by_its_number(workers, link):
    submit(workers, 50, expected=0.1)
    ended = drain(workers, link)
    assert sorted(each.number for each in ended) == list(range(50))
    assert all(each.value == each.number and each.attempt == 1 and each.failure is None for each in ended)


@pytest.mark.parametrize(
    ("expected", "waiting", "slots", "size"),
    [
        ([None] * 40, 1000, 2, 1),
        ([0.5, None, 0.5], 1000, 2, 1),
        ([AIM / 4] * 40, 1000, 2, 4),
        ([AIM * 3] * 40, 1000, 2, 1),
        ([1e-6] * MOST, 10_000, 2, MOST),
        ([1e-6] * 40, 12, 2, 3),
        ([1e-6], 1, 100, 1),
    ],
)
def test_a_batch_is_worth_its_task_and_leaves_enough_for_the_others(expected, waiting, slots, size):
    assert batch_size(expected, waiting, slots) == size


def test_short_jobs_go_in_batches_and_long_ones_alone(workers, link):
    submit(workers, 64, expected=0.2)
    workers.wait(1)
    assert {len(batch.orders) for batch in link.launched.values()} == {8, 7, 6, 5}
    drain(workers, link)
    before = len(link.launched)
    submit(workers, 8, expected=10.0)
    drain(workers, link)
    assert len(link.launched) - before == 8


def test_what_is_in_flight_is_bounded_by_what_was_asked_and_by_what_there_is(clock, said):
    many, few = PretendedLink(clock), PretendedLink(clock)
    large, small = workers_on(many, clock, said, count=1000), workers_on(few, clock, said, count=3)
    for workers in (large, small):
        submit(workers, 400)
        workers.wait(3)
    assert large.in_flight == 4 + 2  # two more than there is room for: a cluster may grow by that
    assert small.in_flight == 3


def test_a_hundred_thousand_jobs_wait_in_the_driver_and_not_here(workers, link):
    """The driver hands over what there is room for; the rest are tasks in its own queue."""
    left, reported, most = iter(range(100_000)), 0, 0
    following = next(left)
    while following is not None or workers.outstanding:
        while following is not None and workers.room > 0:
            workers.submit(following, "", 60.0, 0.01)
            following = next(left, None)
        most = max(most, workers.outstanding)
        for serial in link.placed:
            link.finish(serial)
        reported += len(workers.wait(5))
    assert reported == 100_000
    assert link.most <= 4
    assert most <= 4 * 3 * MOST
    assert len(link.launched) < 4000


def test_a_job_that_ends_its_worker_is_tried_three_times_and_then_given_up(workers, link):
    submit(workers, 1)
    kinds = []
    while workers.outstanding:
        for serial in link.placed:
            link.tell(AttemptEnded(serial, 0, 1, 2.0, None, CRASH))
            link.end(serial)
        kinds += workers.wait(5)
    assert [(each.attempt, each.retried, each.poison) for each in kinds] == [
        (1, True, False),
        (2, True, False),
        (3, False, True),
    ]
    assert all(len(batch.orders) == 1 for batch in link.launched.values())


def test_a_job_that_raises_is_not_tried_again(workers, link):
    submit(workers, 1)
    workers.wait(1)
    (serial,) = link.placed
    link.tell(AttemptEnded(serial, 0, 1, 2.0, None, Failure(Status.RAISED, "no")))
    (ended,) = workers.wait(5)
    assert not ended.retried
    assert not ended.poison
    assert not workers.outstanding


def test_of_a_batch_whose_process_is_lost_only_the_job_at_hand_is_blamed(workers, link):
    submit(workers, 64, expected=0.1)
    workers.wait(1)
    serial = next(iter(link.placed))
    numbers = [order.number for order in link.launched[serial].orders]
    assert len(numbers) > 3
    link.finish(serial, count=2)
    link.end(serial, "worker", "it is gone")
    ended = workers.wait(5)
    blamed = ended[-1]
    assert [each.number for each in ended] == numbers[:3]
    assert (blamed.failure.status, blamed.retried) == (Status.CRASHED, True)
    assert "first (11)" in blamed.failure.detail
    others = drain(workers, link)
    assert {each.number: each.attempt for each in others}[blamed.number] == 2
    assert {each.attempt for each in others if each.number != blamed.number} == {1}


def test_a_job_that_had_failed_is_tried_alone(workers, link):
    submit(workers, 64, expected=0.1)
    workers.wait(1)
    serial = next(iter(link.placed))
    number = link.launched[serial].orders[0].number
    link.end(serial, "memory", "too much")
    (ended,) = workers.wait(5)
    assert ended.failure.status is Status.MEMORY
    drain(workers, link)
    again = [batch for batch in link.launched.values() if number in [order.number for order in batch.orders]]
    assert [len(batch.orders) for batch in again[1:]] == [1]


def test_a_lost_node_counts_against_no_job_and_is_told(workers, link, said):
    submit(workers, 8)
    for _ in range(5):
        workers.wait(1)
        serial = next(serial for serial, place in link.placed.items() if place == SECOND.id)
        link.end(serial, "node", "gone")
    ended = drain(workers, link)
    assert {each.attempt for each in ended} == {1}
    assert sorted(each.number for each in ended) == list(range(8))
    assert len(said) == 5
    assert all(re.search(r"second \(22\) .*\blost\b.*\b1 training\b", text) for text in said)


def test_nodes_that_come_and_go_are_told_and_used(workers, link, said, clock):
    submit(workers, 30)
    workers.wait(2)
    assert workers.in_flight == 4
    bigger = workers_on(link, clock, said, count=100)
    submit(bigger, 30, first=100)
    link.join(ClusterNode("33", "third (33)", 8.0, 0.0))
    bigger.wait(2)
    (text,) = said
    assert re.search(r"third \(33\) .*\bjoined\b.*\b12 workers\b", text)
    bigger.wait(2)
    assert bigger.in_flight == 12 + 3


def test_a_node_that_cannot_do_it_gets_no_more_work(workers, link, said):
    submit(workers, 8)
    workers.wait(1)
    serial = next(serial for serial, place in link.placed.items() if place == SECOND.id)
    link.tell(NodeUnfit(serial, SECOND.id, "torch is not installed"))
    link.end(serial)
    ended = drain(workers, link)
    assert sorted(each.number for each in ended) == list(range(8))
    assert {each.attempt for each in ended} == {1}
    (text,) = said
    assert re.search(r"second \(22\) .*: torch is not installed", text)
    assert link.launched[max(link.launched)].avoid == (SECOND.id,)


def test_if_no_node_can_do_it_the_search_ends_with_all_reasons(workers, link):
    submit(workers, 8)
    workers.wait(1)
    for serial, place in link.placed.items():
        link.tell(NodeUnfit(serial, place, f"{place} is too old"))
    with pytest.raises(RunError, match=r" first \(11\): 11 is too old; second \(22\): 22 is too old"):
        workers.wait(5)


def test_a_task_that_is_silent_for_too_long_is_given_up(workers, link, clock):
    submit(workers, 1)
    workers.wait(1)
    clock.now += 1000
    (ended,) = workers.wait(5)
    assert ended.failure.status is Status.DEADLINE
    assert ended.retried
    (serial,) = link.placed
    workers.wait(3)
    assert link.cancelled == [serial]
    link.finish(serial)  # what it says now is about a job that somebody else is at
    workers.wait(3)
    assert workers.outstanding == 1


def test_a_result_that_makes_no_sense_is_garbage(workers, link):
    submit(workers, 1)
    workers.wait(1)
    link.finish(next(iter(link.placed)), values=lambda _: b"nonsense")
    (ended,) = workers.wait(5)
    assert ended.failure.status is Status.GARBAGE


def test_stragglers_are_told_once_when_nothing_else_is_left(workers, link, said):
    submit(workers, 4, expected=4.0)
    workers.wait(1)
    slow = list(link.placed)[-1]
    for serial in list(link.placed):
        if serial != slow:
            link.finish(serial, seconds=4.0)
    workers.wait(2)
    for _ in range(40):
        workers.wait(1)
    (number,) = [order.number for order in link.launched[slow].orders]
    (note,) = said
    assert f"task {number} on second (22)" in note
    assert re.search(r"\b13 s .*\b4 s\b", note)
    link.finish(slow)
    drain(workers, link)
    submit(workers, 1, expected=4.0)
    for _ in range(40):
        workers.wait(1)
    assert len(said) == 2  # of the next round, again


@pytest.mark.parametrize(
    ("cpus", "gpus", "demand", "slots"),
    [
        (8, 0, WorkerResources(1), 8),
        (8, 0, WorkerResources(0.5), 16),
        (8, 0, WorkerResources(3), 2),
        (8, 0, WorkerResources(1, 0.25), 0),
        (64, 4, WorkerResources(1, 0.25), 16),
        (8, 4, WorkerResources(1, 0.25), 8),
        (64, 4, WorkerResources(1, 2), 2),
        (64, 1, WorkerResources(1, 0.3), 3),
        (0.3, 0, WorkerResources(0.1), 3),
    ],
)
def test_how_many_workers_a_node_has_room_for(cpus, gpus, demand, slots):
    assert ClusterNode("1", "one", cpus, gpus).slots(demand) == slots


EXPECTED = {"python": "3.11", "evopinn": "1", "torch": "2", "numpy": "2", "llvmlite": "0", "processor": "a"}


def look(link, clock, said, *told):
    """Inspect two nodes, of which the second tells something."""
    link.tell(
        BatchStarted(-1, FIRST.id, 1, EXPECTED),
        AttemptEnded(-1, -1, 1, 0.0, b"", None),
        BatchEnded(-1),
        *told,
    )
    inspect(link, [FIRST, SECOND], EXPECTED, 30.0, said.append, clock)


def test_before_anything_is_trained_a_node_says_what_it_lacks(link, clock, said):
    told = [
        BatchStarted(-2, SECOND.id, 1, EXPECTED),
        NodeUnfit(-2, SECOND.id, "evopinn is not installed"),
        BatchEnded(-2),
    ]
    with pytest.raises(RunError, match=r"\bsecond \(22\): evopinn is not installed\. "):
        look(link, clock, said, *told)
    assert [(batch.node, batch.orders[0].payload) for batch in link.launched.values()] == [
        ("11", b""),
        ("22", b""),
    ]


def test_what_only_changes_last_digits_is_a_note(link, clock, said):
    facts = EXPECTED | {"torch": "2.9", "processor": "b"}
    look(
        link,
        clock,
        said,
        BatchStarted(-2, SECOND.id, 1, facts),
        AttemptEnded(-2, -1, 1, 0.0, b"", None),
        BatchEnded(-2),
    )
    (text,) = said
    assert re.search(r" second \(22\) torch is 2\.9, not 2, processor is b, not a;", text)


def test_a_node_that_is_too_busy_to_be_looked_at_is_looked_at_later(link, clock, said):
    look(link, clock, said)
    assert link.cancelled == [-2]
    (text,) = said
    assert re.search(r"second \(22\) .*\b30 s\b", text)
