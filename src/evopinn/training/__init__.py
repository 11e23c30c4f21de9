"""Training a network on a problem."""

from evopinn.training.adam import Adam
from evopinn.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from evopinn.training.duration import parse_duration
from evopinn.training.lbfgs import LBFGS
from evopinn.training.loop import train
from evopinn.training.optimizer import Optimizer, State
from evopinn.training.recorder import Progress
from evopinn.training.result import History, TrainingResult
from evopinn.training.saved import check_writable, load, save
from evopinn.training.settings import OPTIMIZERS, PRECISIONS, find_optimizer
from evopinn.training.status import Status

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "PRECISIONS",
    "Adam",
    "Checkpoint",
    "History",
    "Optimizer",
    "Progress",
    "State",
    "Status",
    "TrainingResult",
    "check_writable",
    "find_optimizer",
    "load",
    "load_checkpoint",
    "parse_duration",
    "save",
    "save_checkpoint",
    "train",
]
