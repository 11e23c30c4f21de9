"""The benchmark: this package's engines beside peers, in one run, on one core; and searches.

Ratios are what counts: times depend on the machine, and on what else it does.
"""

from evopinn.bench.cases import CASES, TARGETS, Case, Target
from evopinn.bench.contestants import BASELINE, COMPILED, make_contestant
from evopinn.bench.machine import Machine, this_machine
from evopinn.bench.plan import FULL, QUICK, Plan
from evopinn.bench.report import (
    DRIVER_LIMIT,
    FLOAT32_TARGET,
    GROWTH_LIMIT,
    MEMORY_LIMIT,
    OPTIMIZER_LIMIT,
    SHOW_LIMIT,
    SPEEDUP_TARGET,
    STEP_LIMIT,
    BenchReport,
    Comparison,
    DriverCost,
    LongRun,
    OptimizerCost,
    Precision,
    Scaling,
    StepCost,
    Throughput,
    Timing,
)
from evopinn.bench.sections import SECTIONS, run_bench

__all__ = [
    "BASELINE",
    "CASES",
    "COMPILED",
    "DRIVER_LIMIT",
    "FLOAT32_TARGET",
    "FULL",
    "GROWTH_LIMIT",
    "MEMORY_LIMIT",
    "OPTIMIZER_LIMIT",
    "QUICK",
    "SECTIONS",
    "SHOW_LIMIT",
    "SPEEDUP_TARGET",
    "STEP_LIMIT",
    "TARGETS",
    "BenchReport",
    "Case",
    "Comparison",
    "DriverCost",
    "LongRun",
    "Machine",
    "OptimizerCost",
    "Plan",
    "Precision",
    "Scaling",
    "StepCost",
    "Target",
    "Throughput",
    "Timing",
    "make_contestant",
    "run_bench",
    "this_machine",
]
