"""Runs to test with: simulated tasks and histories, cheap and in any number."""

import math

from simulated import course, make_evaluation

from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.store import Store
from evopinn.training import History

GENOMES = tuple(
    Genome.parse(f"layers={layers} neurons={neurons} activation={activation}")
    for layers in range(2, 10)
    for neurons in range(20, 60, 4)
    for activation in ("tanh(x)", "sin(x)", "asinh(x)*cos(x)")
)
VERSIONS = {"evopinn": "0.1.0", "torch": "2.4"}
CONFIG = 'problem = "klein-gordon"\nmethod = "evo-dpste"\nseed = 7\n'


def make_task(number, generation=1, **changes):
    settings = {
        "genome": GENOMES[number % len(GENOMES)],
        "epochs": 100,
        "seed": 2**64 - 1 - number,
        "origin": Origin(("crossover", "change node"), (number // 2, number // 3)),
    }
    return Task(number=number, generation=generation, **(settings | changes))


def make_history(number, epochs=20):
    return History(**course(number, epochs))


def make_closed_run(directory, count=1):
    with Store.create(directory, CONFIG, VERSIONS) as store:
        store.add_tasks(make_task(number) for number in range(count))
        store.record([make_evaluation(number, history=make_history(number)) for number in range(count)])


# The second candidate has the best network, the first the better mean.
CANDIDATES = (GENOMES[0], GENOMES[4])
FINAL_LOSSES = (0.02, 0.01, 0.03, 0.001, 0.2, 0.3)


def add_generations(store, numbers=range(8)):
    """Record two generations, in which a training crashes, is tried again, and one fails for good."""
    store.add_tasks(make_task(number, 1 + number // 4) for number in numbers)
    store.record([make_evaluation(0, status="crashed", loss=math.inf, errors={}, final=False)])
    for number in numbers:
        failed = {"status": "not-finite", "loss": math.inf, "errors": {}} if number == 3 else {}
        store.record([make_evaluation(number, history=make_history(number), **failed)])


def add_final_evaluations(store, losses=FINAL_LOSSES, first=8):
    """Record the final evaluations of two candidates, three of each, as far as there are losses."""
    origin = Origin(("candidate",), (1,))
    times = len(FINAL_LOSSES) // len(CANDIDATES)
    for number in range(len(FINAL_LOSSES)):
        genome = CANDIDATES[number // times]
        store.add_tasks([make_task(first + number, 3, genome=genome, origin=origin, epochs=500)])
    for number, loss in enumerate(losses):
        errors = {"u": 2 * loss, "v": 3 * loss}
        store.record([make_evaluation(first + number, loss=loss, errors=errors, epochs=500)])
