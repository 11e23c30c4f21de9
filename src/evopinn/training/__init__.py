"""Training a network on a problem."""

from evopinn.training.adam import Adam
from evopinn.training.lbfgs import LBFGS
from evopinn.training.loop import OPTIMIZERS, PRECISIONS, Progress, find_optimizer, train
from evopinn.training.optimizer import Optimizer, State
from evopinn.training.result import History, TrainingResult
from evopinn.training.saved import load, save
from evopinn.training.status import Status

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "PRECISIONS",
    "Adam",
    "History",
    "Optimizer",
    "Progress",
    "State",
    "Status",
    "TrainingResult",
    "find_optimizer",
    "load",
    "save",
    "train",
]
