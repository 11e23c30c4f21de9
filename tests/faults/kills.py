"""How much longer a search takes if it is killed now and then."""

import signal
import time

import searches
from scene import Scene
from searches import assert_same_end, kill, settled_count, wait_until

import evopinn as ep

TIMED = "evo-dpste, timed"
searches.SEARCHES[TIMED] = (
    "evo-dpste",
    ep.Schedule((80, 50, 40, 30), (20, 30, 40, 50)),
    searches.FEW_FINALS,
)
MOST_RATIO = 1.5
_WORKERS = 2
_PATIENCE = 600
_DRIVER_EVERY = 45.0  # seconds of an undisturbed search; workers are killed twice as often


def time_under_kills(place, rng):
    """The seconds of an undisturbed search, those of one under kills, and how many of drivers and workers."""
    undisturbed, disturbed = place / "timed", place / "timed-and-killed"
    with Scene(undisturbed, rng, TIMED, _WORKERS) as scene:
        seconds = _seconds(scene.finish)
    drivers = max(round(seconds / _DRIVER_EVERY), 1)
    victims = [True] * drivers + [False] * 2 * drivers
    rng.shuffle(victims)
    total = settled_count(undisturbed)
    moments = sorted(rng.sample(range(1, total - 5), len(victims)))
    with Scene(disturbed, rng, TIMED, _WORKERS) as scene:
        longer = _seconds(lambda: _kill_at(scene, zip(moments, victims, strict=True)))
    assert_same_end(disturbed, undisturbed)
    return seconds, longer, drivers, 2 * drivers


def _kill_at(scene, plan):
    """Kill the driver, or one of the workers, whenever so many trainings are settled."""
    for moment, is_driver in plan:
        if scene.driver is None:
            scene.start()
        wait_until(lambda: settled_count(scene.directory) >= moment, "progress", _PATIENCE, 0.05)  # noqa: B023
        if is_driver:
            scene.driver.kill()
            scene.await_end(-signal.SIGKILL)
        else:
            kill(scene.worker())
    scene.finish()


def _seconds(act):
    since = time.monotonic()
    act()
    return time.monotonic() - since
