"""Expression graphs, recorded from functions that were written for arrays.

A function is called with symbols instead of its arguments; what it does with them is the graph. In this
way closed forms become kernels, activations get their derivatives, and residuals their LaTeX. To follow a
residual in whatever it does, call it with recorded arrays: values, each with a symbol.
"""

from evopinn.symbolic.recorded_arrays import RecordedArray, Recording
from evopinn.symbolic.symbols import Symbol, Vocabulary, evaluated, in_order, inputs, whole_power

__all__ = [
    "RecordedArray",
    "Recording",
    "Symbol",
    "Vocabulary",
    "evaluated",
    "in_order",
    "inputs",
    "whole_power",
]
