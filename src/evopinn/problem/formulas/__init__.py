"""The formulas of a problem: its functions recorded as expression graphs, and printed in LaTeX."""

from evopinn.problem.formulas.equations import ProblemFormulas, TermFormula, problem_formulas

__all__ = ["ProblemFormulas", "TermFormula", "problem_formulas"]
