"""The figures of studies, in the style of all others."""

from evopinn.view.study.figures.courses import convergence, progress
from evopinn.view.study.figures.maps import error_maps
from evopinn.view.study.figures.sensitivity import morris, ranking, sensitivity

__all__ = ["convergence", "error_maps", "morris", "progress", "ranking", "sensitivity"]
