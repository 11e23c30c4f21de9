"""The facts of a report, gathered from a run; missing parts do not hide the rest."""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from evopinn.errors import EvopinnError
from evopinn.problem import OBJECT, Problem, Reference
from evopinn.problem.formulas import problem_formulas
from evopinn.run.goal import Goal
from evopinn.run.record import RunRecord
from evopinn.run.run_result import RunResult
from evopinn.store.directory import CONFIG
from evopinn.training import TrainingResult
from evopinn.view.figures.figure_table import FIGURES, REPORTED, Scene
from evopinn.view.figures.pictures import Picture, Undrawn, drawn
from evopinn.view.figures.subjects import Subject, problem_again
from evopinn.view.report.formulas import formula, formulas
from evopinn.view.report.report_facts import Formula, ProblemFacts, RunFacts, TermFacts
from evopinn.view.scale_table import scale_table

_UNKNOWN = f"{OBJECT}unknown"
"""The name of a problem that does not exist, so that figures cannot use a wrong problem."""

_POINTS = {
    "Grid": "on a grid",
    "Uniform": "drawn uniformly at random",
    "LatinHypercube": "drawn from a Latin hypercube",
    "Sobol": "drawn from a Sobol sequence",
}


def gathered(
    run: RunResult, problem: Problem | str | None = None, pictures: Iterable[str] = REPORTED
) -> RunFacts:
    """The content of a report on a run.

    Args:
        run: The run.
        problem: Its problem or the problem's name, to replace the one that the run names.
        pictures: Names of the figures to draw.
    """
    record = run.record
    found, missing = _problem(record.goal, problem)
    if found is not None:
        record = replace(record, problem_sizes=(len(found.axes), len(found.fields)))
    network, lost = _network(run, record)
    scene = Scene(
        finals=bool(record.finalists),
        finished=record.state == "finished",
        trained=network is not None,
        measured=found is not None,
        line=found is not None and len(found.axes) == 1,
        solved=found is None or found.solution is not None,
    )
    drawings, undrawn = _pictures(run, found, missing, pictures, scene)
    return RunFacts(
        record=record,
        problem=None if found is None else _problem_facts(found),
        problem_missing=missing,
        network_missing=lost,
        formula=_formula(record),
        loading="" if network is None else _loading(run.directory, network, found),
        pictures=drawings,
        undrawn=undrawn,
        repeat=_repeat(run.directory, record.goal.source),
    )


def _problem(goal: Goal, given: Problem | str | None) -> tuple[Problem | None, str]:
    """The problem of a run, or None and the reason."""
    try:
        return problem_again(goal, given), ""
    except EvopinnError as reason:
        return None, str(reason)


def _network(run: RunResult, record: RunRecord) -> tuple[TrainingResult | None, str]:
    if record.best is None:
        return None, ""
    try:
        return run.best, ""
    except EvopinnError as reason:
        return None, str(reason)


def _formula(record: RunRecord) -> Formula:
    latex = record.best_architecture.latex if record.best_architecture else ""
    return formula(f"f(x) = {latex}") if latex else Formula("", "")


def _pictures(
    run: RunResult, problem: Problem | None, missing: str, names: Iterable[str], scene: Scene
) -> tuple[dict[str, Picture], Undrawn]:
    subject = Subject(run, _UNKNOWN if problem is None else problem)
    wanted = list(names)
    left_out = {name for name in wanted if problem is None and FIGURES[name].needs == "problem"}
    pictures, undrawn = drawn(subject, (name for name in wanted if name not in left_out), scene)
    return pictures, {**dict.fromkeys(sorted(left_out), missing), **undrawn}


def _loading(directory: Path, network: TrainingResult, problem: Problem | None) -> str:
    """Code that loads the network and evaluates it at a point."""
    point = [0.0] * len(network.coordinates)
    if problem is not None:
        middle = problem.terms()[0].sides[0].points
        point = [round(float(value), 4) for value in middle[len(middle) // 2]]
    names = ", ".join(network.coordinates)
    return (
        "import evopinn as ep\n\n"
        f"network = ep.load({str(directory)!r}).best\n"
        f"print(network.predict([{point}]))  # {', '.join(network.fields)} at points ({names})\n"
        "module = network.to_torch()  # an ordinary torch.nn.Module\n"
    )


def _repeat(directory: Path, source: str) -> str:
    if source.startswith(OBJECT):
        return ""
    return f"evopinn search --config {shlex.quote(str(directory / CONFIG))}"


def _problem_facts(problem: Problem) -> ProblemFacts:
    """The description of the problem in formulas and words."""
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
        points=_POINTS.get(type(problem.points).__name__, type(problem.points).__name__),
        solution=_solution(problem),
        scales=scale_table(problem, "Scales"),
    )


def _solution(problem: Problem) -> str:
    if problem.solution is None:
        return "No solution is known, so there are no errors: only the loss measures how good a network is."
    kind = "a reference solution" if isinstance(problem.solution, Reference) else "an exact solution"
    return (
        f"Errors are measured against {kind} on {len(problem.test_points):,} points; they are reported but "
        "do not guide the search."
    )
