"""The subjects of figures: runs, networks, genomes and problems, in every form that a user may pass."""

import os
from collections.abc import Sequence
from functools import cached_property

from evopinn.catalogue import find_problem
from evopinn.errors import EvopinnError, FigureError
from evopinn.genome import Activation, Genome, Structure
from evopinn.problem import OBJECT, Problem, is_problem_file
from evopinn.run.goal import Goal
from evopinn.run.record import find_best
from evopinn.run.run_result import RunResult
from evopinn.store.browser import Browser
from evopinn.store.directory import find_run
from evopinn.store.reader import Reader
from evopinn.training import TrainingResult
from evopinn.workers.problem_source import fingerprint, same_fingerprint

Run = RunResult | str | os.PathLike[str]
"""A run: its result, its directory, or its name in `runs`."""


class Subject:
    """The subject of figures; each part is looked up when a figure first needs it.

    Args:
        source: A search, or a trained network.
        problem: Its problem or the problem's name, to replace the one that the source names.
        task: The number of a task of the search, to show its network instead of the search.
        run_files: Whether a problem's file, which is a program, may be run.

    Attributes:
        source: As given.
    """

    def __init__(
        self,
        source: RunResult | TrainingResult,
        problem: Problem | str | None = None,
        *,
        task: int | None = None,
        run_files: bool = True,
    ) -> None:
        self.source = source
        self._problem = problem
        self._task = task
        self._run_files = run_files

    @property
    def is_run(self) -> bool:
        """Whether the subject is a search."""
        return isinstance(self.source, RunResult) and self._task is None

    @property
    def run(self) -> RunResult:
        """The search."""
        if isinstance(self.source, RunResult) and self._task is None:
            return self.source
        raise FigureError("this figure shows a search, but a single network was given.")

    @cached_property
    def network(self) -> TrainingResult:
        """The trained network; for a search the most accurate one."""
        if isinstance(self.source, TrainingResult):
            return self.source
        return self.source.best if self._task is None else self.source.weights(self._task)

    @cached_property
    def genome(self) -> Genome:
        """The network's genome, which a search has recorded even where the weights are lost."""
        if isinstance(self.source, TrainingResult):
            return self.source.genome
        with Browser(self.source.directory) as browser:
            if self._task is not None:
                return Genome.parse(browser.recorded_task(self._task).genome)
            best = find_best(browser)
        return self.network.genome if best is None else Genome.parse(best.entry.genome)

    @property
    def model(self) -> TrainingResult | Genome:
        """The network, or the genome if the weights are lost."""
        genome = self.genome
        try:
            return self.network
        except EvopinnError:
            return genome

    @cached_property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of coordinates and fields, from the network or the problem; empty without these."""
        model = self.model
        if isinstance(model, TrainingResult):
            return model.coordinates, model.fields
        assert isinstance(self.source, RunResult)
        try:
            problem = given_problem(self._problem, self._goal(self.source).source)
        except FigureError:
            return (), ()
        return problem.axes, tuple(problem.fields)

    @cached_property
    def problem(self) -> Problem:
        """The problem that the network was trained on; a run's must not have changed since."""
        network, given = self.network, self._problem
        if isinstance(self.source, RunResult):
            given = problem_again(self._goal(self.source), given)
        return problem_of(network, given)

    @cached_property
    def problem_if_known(self) -> Problem | None:
        """The same, or None if it cannot be loaded."""
        try:
            return self.problem
        except EvopinnError:
            return None

    def _goal(self, run: RunResult) -> Goal:
        """The goal of a run; refuse to run a problem's file if that is not allowed."""
        goal = goal_of(run)
        if self._problem is None and not self._run_files and is_problem_file(goal.source):
            raise FigureError(f"to draw this, the problem's file must be run: {goal.source}.")
        return goal


def genome_of(given: TrainingResult | Genome | str) -> Genome:
    """The genome of a trained network or a text; a genome itself is returned unchanged."""
    if isinstance(given, str):
        return Genome.parse(given)
    return given.genome if isinstance(given, TrainingResult) else given


def structure_of(given: TrainingResult | Genome | Structure | str) -> Structure:
    """The structure of a network, a genome or a text."""
    return given if isinstance(given, Structure) else genome_of(given).structure


def activation_of(given: TrainingResult | Genome | Activation | str) -> Activation:
    """The activation of a network, a genome or a text, which may be that of an activation alone."""
    if isinstance(given, Activation):
        return given
    if isinstance(given, str) and "activation=" not in given:
        return Activation.parse(given)
    return genome_of(given).activation


def run_of(given: Run) -> RunResult:
    """The result of a run."""
    return given if isinstance(given, RunResult) else RunResult(find_run(os.fspath(given)))


def goal_of(run: RunResult) -> Goal:
    """The goal of a run."""
    with Reader(run.directory) as reader:
        return Goal.of(reader.about().config, run.directory)


def problem_again(goal: Goal, given: Problem | str | None = None) -> Problem:
    """The problem of a run, if it has not changed since the run started.

    Args:
        goal: The goal of the run.
        given: The problem or its name, to replace the one that the run names.

    Raises:
        EvopinnError: It cannot be loaded, or it now produces different losses.
    """
    problem = given_problem(given, goal.source).scaled_as(goal.scales)
    recorded = goal.fingerprint
    if recorded is not None and not same_fingerprint(fingerprint(problem), recorded):
        raise FigureError(
            f"the problem {problem.name} is not the one that the run started with: it now produces different "
            "losses; restore it, or give the original."
        )
    return problem


def problem_of(result: TrainingResult, given: Problem | str | None = None) -> Problem:
    """The problem that a network was trained on.

    Args:
        result: The network.
        given: The problem or its name, to replace the one that the network names.
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
    """The given problem, or else the recorded one."""
    return given if isinstance(given, Problem) else named_problem(recorded if given is None else given)


def named_problem(name: str) -> Problem:
    """The problem with a name that a network or a run has recorded."""
    if name.startswith(OBJECT):
        raise FigureError(
            f"the problem {name.removeprefix(OBJECT)!r} was a Python object, which is not stored; give it."
        )
    try:
        return find_problem(name)
    except EvopinnError as error:
        raise FigureError(f"the problem {name!r} cannot be loaded: {error}") from error
