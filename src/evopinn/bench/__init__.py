"""The benchmark: this package's engines beside peers, in one run, on one core.

Ratios are what counts: times depend on the machine, and on what else it does.
"""

from evopinn.bench.cases import CASES, TARGETS, Case, Target
from evopinn.bench.contestants import BASELINE, COMPILED, make_contestant
from evopinn.bench.machine import Machine, this_machine
from evopinn.bench.plan import FULL, QUICK, Plan
from evopinn.bench.report import (
    FLOAT32_TARGET,
    MEMORY_LIMIT,
    OPTIMIZER_LIMIT,
    BenchReport,
    Comparison,
    OptimizerCost,
    Precision,
    Scaling,
    Timing,
)
from evopinn.bench.sections import SECTIONS, run_bench

__all__ = [
    "BASELINE",
    "CASES",
    "COMPILED",
    "FLOAT32_TARGET",
    "FULL",
    "MEMORY_LIMIT",
    "OPTIMIZER_LIMIT",
    "QUICK",
    "SECTIONS",
    "TARGETS",
    "BenchReport",
    "Case",
    "Comparison",
    "Machine",
    "OptimizerCost",
    "Plan",
    "Precision",
    "Scaling",
    "Target",
    "Timing",
    "make_contestant",
    "run_bench",
    "this_machine",
]
