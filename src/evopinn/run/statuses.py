"""Every status that an evaluation can have, and what it means."""

from collections.abc import Mapping
from types import MappingProxyType

from evopinn.run.ended import FailureKind

TOO_COSTLY, POISON = "too-costly", "poison"
"""Statuses of tasks that were not trained, beside those of trainings and of attempts."""

# Those of a training are `training.Status`, said again: importing that would have every list of runs wait
# for torch.
MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "finished": "all epochs were trained",
        "converged": "the optimiser's tolerances were reached: no step improves the loss any more",
        "not-finite": "the loss or its gradient overflowed or became not-a-number",
        "time-limit": "the time limit was reached",
        "step-budget": "the budget of loss evaluations was used up",
        "interrupted": "interrupted by the user",
        TOO_COSTLY: "it was not begun: an epoch is predicted to cost too much",
        POISON: "it ended three workers",
        **{str(kind): kind.meaning for kind in FailureKind},
    }
)
"""One sentence for a person, by status."""
