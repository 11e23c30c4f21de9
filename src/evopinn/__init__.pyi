"""evopinn: give it a PDE, get back the physics-informed neural network that solves it best."""

__version__: str

from .api import SearchResult, load, report, resume, search
from .catalogue import find_problem
from .errors import EvopinnError
from .genome import Activation, Genome, Space, Structure, published_model, published_models
from .network import Network
from .problem import (
    Boundary,
    Box,
    Data,
    Disk,
    Field,
    Grid,
    Initial,
    Interval,
    LatinHypercube,
    Periodic,
    Polygon,
    Problem,
    Rectangle,
    Reference,
    Ring,
    Sobol,
    Time,
    Uniform,
)
from .search import Roster, Schedule, Trials
from .training import LBFGS, LM, Adam, Status, TrainingResult, save, train
from .view import figures

__all__ = [
    "LBFGS",
    "LM",
    "Activation",
    "Adam",
    "Boundary",
    "Box",
    "Data",
    "Disk",
    "EvopinnError",
    "Field",
    "Genome",
    "Grid",
    "Initial",
    "Interval",
    "LatinHypercube",
    "Network",
    "Periodic",
    "Polygon",
    "Problem",
    "Rectangle",
    "Reference",
    "Ring",
    "Roster",
    "Schedule",
    "SearchResult",
    "Sobol",
    "Space",
    "Status",
    "Structure",
    "Time",
    "TrainingResult",
    "Trials",
    "Uniform",
    "figures",
    "find_problem",
    "load",
    "published_model",
    "published_models",
    "report",
    "resume",
    "save",
    "search",
    "train",
]
