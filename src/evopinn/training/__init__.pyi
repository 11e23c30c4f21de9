"""Training a network on a problem."""

from .acceleration import GeodesicAcceleration, NoAcceleration
from .adam import Adam
from .chain import Chain, ChainStage, find_optimiser
from .checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from .cost import CostOf, Work, cost_of_epochs, epoch_cost, typical_cost
from .damping import SmallDamping
from .duration import parse_duration
from .first_look import warnings_before
from .history import History, Progress
from .lbfgs import LBFGS
from .levenberg import LM
from .loop import train
from .optimiser import Optimiser, State
from .optimiser_table import OPTIMISERS, spends_by_cost
from .result import PRECISIONS, TrainingResult
from .saved_model import check_writable, load, save
from .settings import DEFAULT_EPOCHS, PAPER_OPTIMIZER, TrainingOptions, as_genome, usual_optimiser
from .solvers import Cholesky, ConjugateGradients
from .status import Status
from .warnings import is_overfitted, overfitting_warning

__all__ = [
    "DEFAULT_EPOCHS",
    "LBFGS",
    "LM",
    "OPTIMISERS",
    "PAPER_OPTIMIZER",
    "PRECISIONS",
    "Adam",
    "Chain",
    "ChainStage",
    "Checkpoint",
    "Cholesky",
    "ConjugateGradients",
    "CostOf",
    "GeodesicAcceleration",
    "History",
    "NoAcceleration",
    "Optimiser",
    "Progress",
    "SmallDamping",
    "State",
    "Status",
    "TrainingOptions",
    "TrainingResult",
    "Work",
    "as_genome",
    "check_writable",
    "cost_of_epochs",
    "epoch_cost",
    "find_optimiser",
    "is_overfitted",
    "load",
    "load_checkpoint",
    "overfitting_warning",
    "parse_duration",
    "save",
    "save_checkpoint",
    "spends_by_cost",
    "train",
    "typical_cost",
    "usual_optimiser",
    "warnings_before",
]
