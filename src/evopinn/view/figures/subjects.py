"""What a figure is asked of, in the forms that a user has it in."""

import os

from evopinn.errors import EvopinnError, FigureError
from evopinn.genome import Activation, Genome, Structure
from evopinn.problem import Problem
from evopinn.problems import find_problem
from evopinn.run.place import find_run
from evopinn.run.reading import Reader
from evopinn.run.result import SearchResult
from evopinn.run.source import OBJECT, fingerprint, same_fingerprint
from evopinn.run.summary import Intent
from evopinn.training import TrainingResult

Run = SearchResult | str | os.PathLike[str]
"""A run, by what it found, or its directory, or its name in `runs`."""


def genome_of(given: TrainingResult | Genome | str) -> Genome:
    """The genome of a trained network, of a text, or itself."""
    if isinstance(given, str):
        return Genome.parse(given)
    return given.genome if isinstance(given, TrainingResult) else given


def structure_of(given: TrainingResult | Genome | Structure | str) -> Structure:
    """The structure of what has one."""
    return given if isinstance(given, Structure) else genome_of(given).structure


def activation_of(given: TrainingResult | Genome | Activation | str) -> Activation:
    """The activation of what has one; a text may be that of an activation alone."""
    if isinstance(given, Activation):
        return given
    if isinstance(given, str) and "activation=" not in given:
        return Activation.parse(given)
    return genome_of(given).activation


def run_of(given: Run) -> SearchResult:
    """What a run has found."""
    return given if isinstance(given, SearchResult) else SearchResult(find_run(os.fspath(given)))


def intent_of(run: SearchResult) -> Intent:
    """What a run was to do, and where its problem comes from."""
    with Reader(run.directory) as reader:
        return Intent.of(reader.about().config, run.directory)


def problem_again(intent: Intent, given: Problem | str | None = None) -> Problem:
    """The problem of a run, if it is still what it was when the run began.

    Args:
        intent: What the run was to do.
        given: The problem, or what it is called, if it is not where the run says.

    Raises:
        EvopinnError: It cannot be had, or its losses are others now.
    """
    problem = given_problem(given, intent.source)
    recorded = intent.fingerprint
    if recorded is not None and not same_fingerprint(fingerprint(problem), recorded):
        raise FigureError(
            f"the problem {problem.name} is not the one that the run began with: its losses are others now; "
            "put it back as it was, or give the one that it was."
        )
    return problem


def problem_of(result: TrainingResult, given: Problem | str | None = None) -> Problem:
    """The problem that a network was trained on.

    Args:
        result: The network.
        given: The problem, or what it is called, if the network's own record does not do.
    """
    problem = given_problem(given, result.problem)
    theirs, ours = (problem.axes, tuple(problem.fields)), (result.coordinates, result.fields)
    if theirs != ours:
        raise FigureError(
            f"the problem {problem.name!r} has the fields {', '.join(theirs[1])} of {', '.join(theirs[0])}; "
            f"the network has {', '.join(ours[1])} of {', '.join(ours[0])}: give the problem of its training."
        )
    return problem


def given_problem(given: Problem | str | None, recorded: str) -> Problem:
    """The problem that is given, itself or by its name; if none is, the recorded one."""
    return given if isinstance(given, Problem) else named_problem(recorded if given is None else given)


def named_problem(name: str) -> Problem:
    """The problem of a name, as a network or a run records it."""
    if name.startswith(OBJECT):
        raise FigureError(
            f"the problem {name.removeprefix(OBJECT)!r} was a Python object, which is not stored; give it."
        )
    try:
        return find_problem(name)
    except EvopinnError as error:
        raise FigureError(f"the problem {name!r} cannot be had again: {error}") from error
