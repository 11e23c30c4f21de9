"""Faults drawn at random until the time is over: `make chaos`, or `make chaos SEED=123`.

EVOPINN_CHAOS_MINUTES says for how long, EVOPINN_CHAOS_SEED with which seed to begin. Each scene has a seed,
one more than the scene before: to begin with the seed of a scene that failed is to have that scene again.
"""

import importlib.util
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("run", "cluster")]

from kills import MOST_RATIO, time_under_kills
from losses import lose_nodes
from mounting import small_disk
from raylets import RayCluster
from scene import SEARCH, Over, Scene
from searches import assert_same_end, undisturbed_run
from table import FAULTS, befall

MINUTES = 30.0
TIMED_FROM = 10.0  # minutes: how long a search takes under kills needs some
MOST_FAULTS, MOST_LOSSES = 12, 4
ON_A_CLUSTER = 5  # one scene in so many, by its seed: to start one takes a while
NODE_LOST = "Ray node lost, another joined"
SEARCHES = (SEARCH, SEARCH, "random", "bo-fcnet")


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def scene_of(seed, place, aside, until):
    """A search, and faults that befall it until it is finished.

    Args:
        seed: Draws all.
        place: Where the disk may be filled.
        aside: Where not.
        until: From when on nothing more befalls it.

    Returns:
        The faults that befell it, the one that came too late, if there is one, and how many evaluations were
        seen.
    """
    rng = random.Random(seed)
    which = rng.choice(SEARCHES)
    names = [name for name, fault in FAULTS.items() if place.is_mount() or not fault.mount]
    happened, late = [], []
    directory = place / f"run-{seed}"
    with Scene(directory, rng, which) as scene:
        try:
            while len(happened) < MOST_FAULTS and time.monotonic() < until:
                name = rng.choice(names)
                befall(scene, FAULTS[name])
                happened.append(name)
        except Over:
            late.append(name)
        except BaseException:
            say(f"seed {seed}: {which}; after {', '.join(happened) or 'nothing'}: {name} went wrong")
            raise
        scene.finish()
        seen = len(scene.seen)
    assert_same_end(directory, undisturbed_run(aside, which))
    for path in place.glob(f"run-{seed}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return happened, late, seen


def cluster_scene_of(seed, aside, until):
    """A search on a cluster that loses nodes; see `scene_of` for what it returns."""
    directory, cluster = aside / f"run-{seed}", RayCluster()
    try:
        losses, seen = lose_nodes(cluster, directory, random.Random(seed), MOST_LOSSES, until)
    finally:
        cluster.shutdown()
    assert_same_end(directory, undisturbed_run(aside, SEARCH))
    return [NODE_LOST] * len(losses), [], seen


def timed(aside, seed):
    """How much longer a search takes under kills."""
    seconds, longer, drivers, workers = time_under_kills(aside, random.Random(seed))
    say(
        f"undisturbed {seconds:.0f} s; with the driver killed {drivers} times and workers {workers} times "
        f"{longer:.0f} s, {longer / seconds:.2f} times as long"
    )
    return longer / seconds


def main():
    minutes = float(os.environ.get("EVOPINN_CHAOS_MINUTES") or MINUTES)
    first = int(os.environ.get("EVOPINN_CHAOS_SEED") or random.SystemRandom().randrange(2**32))
    until = time.monotonic() + 60 * minutes
    say(f"{minutes:g} minutes of faults, the first seed is {first}")
    seed, counts, too_late, evaluations = first, Counter(), Counter(), 0
    # What is started in the background may ignore Ctrl-C, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with small_disk() as place, tempfile.TemporaryDirectory(prefix="evopinn-chaos-") as name:
        aside = Path(name)
        os.environ["EVOPINN_CACHE"] = str(aside / "kernels")
        if not place.is_mount():
            say("file systems cannot be mounted here: no disk is filled")
        if not (has_ray := importlib.util.find_spec("ray") is not None):
            say("Ray is not installed: no node is lost")
        while time.monotonic() < until:
            since = time.monotonic()
            try:
                if has_ray and seed % ON_A_CLUSTER == 0:
                    happened, late, seen = cluster_scene_of(seed, aside, until)
                else:
                    happened, late, seen = scene_of(seed, place, aside, until)
            except BaseException:
                say(f"seed {seed} failed; to have it again: make chaos SEED={seed}")
                raise
            counts.update(happened)
            too_late.update(late)
            evaluations += seen
            took = time.monotonic() - since
            say(f"seed {seed}: {len(happened)} faults, {seen} evaluations, the same end, {took:.0f} s")
            seed += 1
        ratio = timed(aside, first) if minutes >= TIMED_FROM else 0.0
    for name in (*FAULTS, NODE_LOST):
        say(f"{counts[name]:6}  {name}" + (f" ({too_late[name]} too late)" if too_late[name] else ""))
    say(
        f"{counts.total()} faults, {seed - first} searches with {evaluations} evaluations: none was lost but "
        "those in damaged logs, which were trained again"
    )
    if ratio > MOST_RATIO:
        sys.exit(f"under kills a search took {ratio:.2f} times as long; the limit is {MOST_RATIO:g}")


if __name__ == "__main__":
    main()
