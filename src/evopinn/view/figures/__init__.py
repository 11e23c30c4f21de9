"""Figures of networks, of their solutions and of searches, for the screen and for papers.

A figure of one plot takes matplotlib's axes to draw on (`ax`) and returns them; one of several plots takes a
figure or a part of one (`figure`) and returns that. Without these, each makes a figure of its own, in one
style whose colours are distinguishable for everyone.
"""

from evopinn.view.figures.activations import activation
from evopinn.view.figures.figure_table import FIGURES, draw
from evopinn.view.figures.histories import convergence
from evopinn.view.figures.lineages import lineage
from evopinn.view.figures.maps import error, solution
from evopinn.view.figures.outcomes import cost, failures
from evopinn.view.figures.populations import composition
from evopinn.view.figures.searches import generations, schedule
from evopinn.view.figures.structures import structure
from evopinn.view.figures.style import save
from evopinn.view.figures.subjects import Subject
from evopinn.view.figures.trees import formula, tree

__all__ = [
    "FIGURES",
    "Subject",
    "activation",
    "composition",
    "convergence",
    "cost",
    "draw",
    "error",
    "failures",
    "formula",
    "generations",
    "lineage",
    "save",
    "schedule",
    "solution",
    "structure",
    "tree",
]
