"""A broker in memory, for what the driver decides: no Ray, and a clock of its own."""

from collections import deque

from evopinn.workers.cluster.messages import (
    AttemptEnded,
    BatchEnded,
    BatchStarted,
    ClusterNode,
    NodesChanged,
    PollRequest,
    WorkerLoaded,
    WorkerResources,
)
from evopinn.workers.cluster.ray_pool import RayPool

SECOND = ClusterNode("22", "second (22)", 2.0, 0.0)
FIRST = ClusterNode("11", "first (11)", 2.0, 0.0)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class PretendedLink:
    """Launches batches on nodes with room, in order; a test says what becomes of them.

    Args:
        clock: Goes on by a second with each answer.
        nodes: With room for as many batches as they have CPUs.
    """

    def __init__(self, clock, nodes=(FIRST, SECOND)):
        self.busy = False
        self.nodes = list(nodes)
        self.launched = {}
        self.cancelled = []
        self.most = 0
        self._clock = clock
        self._queue = deque()
        self._places = {}
        self._events = []
        self.requests = []

    def ask(self, request):
        assert not self.busy
        self.busy = True
        self.requests.append(request)
        if not isinstance(request, PollRequest):
            return
        self.cancelled += request.cancel
        for batch in request.launch:
            self.launched[batch.serial] = batch
            self._queue.append(batch.serial)
        self.most = max(self.most, len(self._queue) + len(self._places))

    def answer(self, timeout):
        del timeout
        self.busy = False
        self._clock.now += 1.0
        self._place()
        events, self._events = self._events, []
        return events

    def _place(self):
        for node in self.nodes:
            used = sum(place == node.id for place in self._places.values())
            while self._queue and used < node.cpus and node.id not in self.launched[self._queue[0]].avoid:
                serial = self._queue.popleft()
                self._places[serial] = node.id
                used += 1
                if serial > 0:  # what is below is no work, and a test says itself what comes of it
                    self._events += [BatchStarted(serial, node.id, 100 + serial, {}), WorkerLoaded(serial)]

    @property
    def placed(self):
        return dict(self._places)

    def tell(self, *events):
        self._events += events

    def join(self, node):
        self.nodes.append(node)
        self._events.append(NodesChanged(tuple(self.nodes)))

    def finish(self, serial, values=lambda number: b"%d" % number, seconds=1.0, count=None):
        """Have the jobs of a batch done, all or the first ones."""
        orders = self.launched[serial].orders[:count]
        self._events += [
            AttemptEnded(serial, each.number, 1, seconds, values(each.number), None) for each in orders
        ]
        if count is None:
            self.end(serial)

    def end(self, serial, lost=None, detail=""):
        del self._places[serial]
        self._events.append(BatchEnded(serial, lost, detail))


def workers_on(link, clock, said, count=4, **changes):
    """Workers that send payloads as they are and take bytes for results."""
    options = {"pack": str.encode, "unpack": lambda payload, value: int(value), "startup_seconds": 10.0}
    return RayPool(
        link, tuple(link.nodes), count, WorkerResources(), say=said.append, clock=clock, **(options | changes)
    )
