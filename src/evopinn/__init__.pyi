"""evopinn: give it a PDE, get back the physics-informed neural network that solves it best."""

__version__: str

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
from .problems import find_problem
from .training import LBFGS, Adam, Status, TrainingResult, load, save, train

__all__ = [
    "LBFGS",
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
    "Sobol",
    "Space",
    "Status",
    "Structure",
    "Time",
    "TrainingResult",
    "Uniform",
    "find_problem",
    "load",
    "published_model",
    "published_models",
    "save",
    "train",
]
