"""Search: which genomes to train next, given how those before came out."""

from .bayes import BayesianOptimisation, BayesMethod, BayesSettings, Trials
from .budget import Budget
from .budget_planning import Plan, planned
from .evolution import Evolution, EvolutionSettings
from .genome_list import GenomeListSettings, GenomeListTraining, Roster
from .method import AnyMethod, Method, Settings
from .methods import DEFAULT_METHOD, GENOME_LIST, METHODS, WORKPLANS, find_method
from .presets import PRESETS, Preset, find_preset
from .ranking import Rank
from .schedule import Schedule
from .task import Finalist, Origin, Score, Searcher, Task
from .workload import Workload, WorkloadStage
from .workplan import Workplan

__all__ = [
    "DEFAULT_METHOD",
    "GENOME_LIST",
    "METHODS",
    "PRESETS",
    "WORKPLANS",
    "AnyMethod",
    "BayesMethod",
    "BayesSettings",
    "BayesianOptimisation",
    "Budget",
    "Evolution",
    "EvolutionSettings",
    "Finalist",
    "GenomeListSettings",
    "GenomeListTraining",
    "Method",
    "Origin",
    "Plan",
    "Preset",
    "Rank",
    "Roster",
    "Schedule",
    "Score",
    "Searcher",
    "Settings",
    "Task",
    "Trials",
    "Workload",
    "WorkloadStage",
    "Workplan",
    "find_method",
    "find_preset",
    "planned",
]
