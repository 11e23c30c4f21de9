"""A problem as a person writes it: its functions recorded as expressions, and printed in LaTeX."""

from evopinn.problem.formulas.stated import ProblemFormulas, TermFormula, problem_formulas

__all__ = ["ProblemFormulas", "TermFormula", "problem_formulas"]
