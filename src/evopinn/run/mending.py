"""Networks of a run that were kept and are damaged or gone: they are trained again."""

from collections.abc import Callable
from pathlib import Path

from evopinn.run.reading import Reader
from evopinn.run.weights import lost_weights, save_weights
from evopinn.run.workforce import Workforce
from evopinn.searchers import Task
from evopinn.training import TrainingResult

_WAIT = 0.25


def mended(
    directory: Path, workers: Workforce, submit: Callable[[Task], None], stopped: Callable[[], bool]
) -> bool:
    """Have the networks trained again that are to be kept and cannot be read; their evaluations stay.

    The same training gives the same network. One that fails now is left as it is.

    Args:
        directory: The run's.
        workers: Free ones.
        submit: Gives them a task.
        stopped: Whether to stop.

    Returns:
        Whether it is done; False if it was stopped before.
    """
    with Reader(directory) as reader:
        tasks = [reader.task(number) for number in lost_weights(directory)]
    for task in tasks:
        submit(task)
    while workers.outstanding:
        if stopped():
            return False
        for ended in workers.wait(_WAIT):
            if isinstance(ended.value, TrainingResult):
                save_weights(directory, ended.number, ended.value)
    return True
