"""The problem of a run, put into formulas and words."""

from evopinn.problem import Problem, Reference
from evopinn.problem.formulas import problem_formulas
from evopinn.view.report.formulas import formula, formulas
from evopinn.view.report.report_facts import ProblemFacts, TermFacts

_WORDS = {
    "Grid": "on a grid",
    "Uniform": "drawn uniformly at random",
    "LatinHypercube": "drawn from a Latin hypercube",
    "Sobol": "drawn from a Sobol sequence",
}


def problem_facts(problem: Problem) -> ProblemFacts:
    """The problem in formulas and words."""
    written = problem_formulas(problem)
    terms = [
        TermFacts(each.name, each.weight, each.count, each.place, formulas(each.equations), each.source)
        for each in written.terms
    ]
    return ProblemFacts(
        title=problem.title,
        equation=formula(problem.equation) if problem.equation.strip() else None,
        domain=formula(written.domain),
        terms=terms,
        definitions=formulas(written.definitions),
        unwritten=formulas(written.unwritten),
        points=_WORDS.get(type(problem.points).__name__, type(problem.points).__name__),
        solution=_solution(problem),
    )


def _solution(problem: Problem) -> str:
    if problem.solution is None:
        return "No solution is known, so there are no errors: only the loss measures how good a network is."
    kind = "a reference solution" if isinstance(problem.solution, Reference) else "an exact solution"
    return (
        f"Errors are measured against {kind} on {len(problem.test_points):,} points; they are reported but "
        "do not guide the search."
    )
