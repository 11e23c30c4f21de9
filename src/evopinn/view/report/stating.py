"""The problem of a run: found again, if it is still the same, and put into formulas."""

from evopinn.errors import EvopinnError
from evopinn.problem import Problem, Reference
from evopinn.problem.formulas import problem_formulas
from evopinn.run.source import fingerprint, same_fingerprint
from evopinn.view.figures.subjects import named_problem
from evopinn.view.report.facts import ProblemFacts, TermFacts
from evopinn.view.report.formulas import formula, formulas

_WORDS = {
    "Grid": "on a grid",
    "Uniform": "drawn uniformly at random",
    "LatinHypercube": "drawn from a Latin hypercube",
    "Sobol": "drawn from a Sobol sequence",
}


def problem_again(
    source: str, recorded: float | None, given: Problem | str | None
) -> tuple[Problem | None, str]:
    """The problem of a run.

    Args:
        source: Where it comes from, as the run records it.
        recorded: The fingerprint that it had when the run began, if that is known.
        given: The problem, or what it is called, if the user knows better.

    Returns:
        The problem, or None and the reason.
    """
    try:
        problem = given if isinstance(given, Problem) else named_problem(source if given is None else given)
        now = fingerprint(problem) if recorded is not None else None
    except EvopinnError as reason:
        return None, str(reason)
    if recorded is not None and now is not None and not same_fingerprint(now, recorded):
        return None, (
            f"the problem {problem.name} is not the one that the run began with: its losses are others now."
        )
    return problem, ""


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
        return "No solution is known, so there are no errors: only the loss says how good a network is."
    kind = "a reference solution" if isinstance(problem.solution, Reference) else "an exact solution"
    return (
        f"Errors are measured against {kind} on {len(problem.test_points):,} points; they are reported and "
        "never steer the search."
    )
