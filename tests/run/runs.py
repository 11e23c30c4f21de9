"""Runs to test with: simulated tasks and histories, cheap and in any number."""

from simulated import course, make_evaluation

from evopinn.genome import Genome
from evopinn.run.store import Store
from evopinn.search.task import Origin, Task
from evopinn.training import History

GENOMES = tuple(
    Genome.parse(f"layers={layers} neurons={neurons} activation={activation}")
    for layers in range(2, 10)
    for neurons in range(20, 60, 4)
    for activation in ("tanh(x)", "sin(x)", "asinh(x)*cos(x)")
)
VERSIONS = {"evopinn": "0.1.0", "torch": "2.4"}
CONFIG = '[search]\nproblem = "klein-gordon"\n'


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
