"""Search: which genomes to train next, given how those before came out.

A searcher knows genomes and scores and nothing else: it is asked for tasks and told how they came out. So a
toy fitness tests it in milliseconds, and whoever drives it may train wherever and in whatever order it likes.
"""

from evopinn.searchers.bayes import BayesianOptimisation, BayesSettings
from evopinn.searchers.budget import Budget
from evopinn.searchers.evolution import Evolution, EvolutionSettings
from evopinn.searchers.listed import Listed, ListedSettings
from evopinn.searchers.methods import LISTED, METHODS, Method, find_method
from evopinn.searchers.planning import Plan, planned
from evopinn.searchers.schedule import (
    PRESETS,
    Layout,
    Preset,
    Roster,
    Schedule,
    Stage,
    Trials,
    Workload,
    find_preset,
)
from evopinn.searchers.task import Finalist, Origin, Score, Searcher, Task

__all__ = [
    "LISTED",
    "METHODS",
    "PRESETS",
    "BayesSettings",
    "BayesianOptimisation",
    "Budget",
    "Evolution",
    "EvolutionSettings",
    "Finalist",
    "Layout",
    "Listed",
    "ListedSettings",
    "Method",
    "Origin",
    "Plan",
    "Preset",
    "Roster",
    "Schedule",
    "Score",
    "Searcher",
    "Stage",
    "Task",
    "Trials",
    "Workload",
    "find_method",
    "find_preset",
    "planned",
]
