"""Made-up evaluations, in a module that loads without torch, so that processes start fast."""

import math

from evopinn.store.records import Evaluation


def course(number, epochs=20):
    """What a history has: losses with their epochs, epochs of the errors, errors of two fields."""
    losses = tuple(math.exp(-epoch / 7 + math.sin(number + epoch)) for epoch in range(epochs + 1))
    return {
        "losses": losses,
        "error_epochs": (0, epochs),
        "errors": {"u": losses[:2], "v": losses[2:4]},
        "epochs": tuple((1 + number % 2) * epoch for epoch in range(epochs + 1)),
    }


def make_evaluation(number, **changes):
    settings = {
        "status": "finished",
        "loss": 1 / (1 + (number * 7919) % 100_003),
        "started": 1.7e9 + number,
        "ended": 1.7e9 + number + 0.5,
        "errors": {"u": math.sqrt(1 / (number + 3))},
        "epochs": 100,
        "seconds": 0.5,
        "worker": number % 2 + 1,
    }
    return Evaluation(task=number, **(settings | changes))
