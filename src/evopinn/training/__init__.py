"""Training a network on a problem."""

from evopinn.training.adam import Adam
from evopinn.training.chain import Chain, Stage
from evopinn.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from evopinn.training.cost import Work, epoch_cost
from evopinn.training.duration import parse_duration
from evopinn.training.lbfgs import LBFGS
from evopinn.training.levenberg import LM
from evopinn.training.loop import train
from evopinn.training.optimizer import Optimizer, State
from evopinn.training.recorder import Progress
from evopinn.training.result import History, TrainingResult
from evopinn.training.saved import check_writable, load, save
from evopinn.training.settings import OPTIMIZERS, PRECISIONS, as_genome, find_optimizer, spends_by_cost
from evopinn.training.status import Status

__all__ = [
    "LBFGS",
    "LM",
    "OPTIMIZERS",
    "PRECISIONS",
    "Adam",
    "Chain",
    "Checkpoint",
    "History",
    "Optimizer",
    "Progress",
    "Stage",
    "State",
    "Status",
    "TrainingResult",
    "Work",
    "as_genome",
    "check_writable",
    "epoch_cost",
    "find_optimizer",
    "load",
    "load_checkpoint",
    "parse_duration",
    "save",
    "save_checkpoint",
    "spends_by_cost",
    "train",
]
