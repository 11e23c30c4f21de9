"""A small run that is as it should be."""

from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.training import History

SETTINGS = """problem = "heat"
method = "evo-dpste"
seed = 7
[schedule]
populations = [3, 2]
epochs = [10, 20]
[recorded]
fingerprint = 1.5
request = "0123456789abcdef"
"""
ORIGINS = (
    Origin(("initial",)),
    Origin(("initial",)),
    Origin(("crossover",), (0, 1)),
    Origin(("candidate",), (2,)),
)


def make_run(directory):
    """Four tasks in three rounds, one of which failed; finished."""
    genome = Genome.parse("layers=3 neurons=20 activation=a*tanh(x)")
    with Store.create(directory, SETTINGS, {"evopinn": "0.1.0"}, clock=lambda: 1.7e9) as store:
        for number, origin in enumerate(ORIGINS):
            store.add_tasks([Task(number, 1 + number // 2 + number // 3, genome, 10, number, origin)])
            loss = float("inf") if number == 1 else 1 / (1 + number)
            history = History((1.0, loss), (0, 1), {"u": (1.0, 0.5)})
            times = {"started": 1.7e9 + number, "ended": 1.7e9 + number + 1, "seconds": 1.0}
            status = "not-finite" if number == 1 else "finished"
            errors = {"u": 0.1} if number != 1 else {}
            store.record(
                [Evaluation(number, status, loss, errors=errors, epochs=10, history=history, **times)]
            )
        store.note("finished")
