"""Sources of problems, from which every worker and every resumed run get the same problem."""

import math
import shlex
import site
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType

import cloudpickle

from evopinn.catalogue import find_problem
from evopinn.engine import make_engine, read_numbers
from evopinn.errors import RunError
from evopinn.genome import Genome
from evopinn.problem import OBJECT, Problem, Scales, absolute_spec, is_problem_file

_TRIED = [
    (Genome.parse(f"layers=3 neurons=7 activation={activation}"), seed)
    for activation in ("tanh(x)", "exp(x)")
    for seed in range(4)
]
"""Networks whose losses tell problems apart; some are not finite where a residual has a logarithm."""

_AGREEMENT = 1e-9


@dataclass(frozen=True)
class ProblemSource:
    """A problem to send to workers: a name, a file, or an object that only this process and its workers see.

    Attributes:
        name: As in the run's configuration: a name of the catalogue, the absolute path of a file (with
            `:name`), or `python:` and the name of an object.
        pickled: The object. It is sent to the workers of this process and never written to a disk.
        scales: The scales with which a run started; None for those that the problem has now.
    """

    name: str
    pickled: bytes | None = None
    scales: Scales | None = None

    @classmethod
    def of(cls, problem: Problem | str) -> "ProblemSource":
        """The source of a problem that a user gives."""
        if isinstance(problem, str):
            return cls(absolute_spec(problem))
        # By value where it must be: a script's functions cannot be imported by workers.
        return cls(f"{OBJECT}{problem.name}", _pickled(problem))

    @classmethod
    def recorded(cls, name: str, directory: Path) -> "ProblemSource":
        """The source of a recorded run's problem, which must still exist.

        Args:
            name: As in the run's configuration.
            directory: The run's.
        """
        command = f"`evopinn resume {shlex.quote(str(directory))} --problem FILE`"
        if name.startswith(OBJECT):
            raise RunError(
                f"the problem {name.removeprefix(OBJECT)!r} of this run was a Python object, which a run "
                "does not store; resume it from Python with evopinn.search(problem, run=...), or state the "
                f"problem in a file and give that: {command}."
            )
        file = Path(f"{name.rpartition('.py')[0]}.py")
        if is_problem_file(name) and not file.is_file():
            raise RunError(
                f"the problem of the run {directory} was in {file}, which no longer exists; "
                f"restore it, or give its new path: {command}, or evopinn.resume(run, problem=file)."
            )
        return cls(name)

    def scaled_as(self, scales: Scales) -> "ProblemSource":
        """The same source of a problem with the scales that a run started with."""
        source = replace(self, scales=scales)
        if "_loaded" in vars(self):  # it is not loaded again
            problem = self.problem.scaled_as(scales)
            vars(source)["_loaded"] = (problem, self.loading_seconds)
            if problem is self.problem and "fingerprint" in vars(self):
                vars(source)["fingerprint"] = self.fingerprint
        return source

    def portable(self) -> "ProblemSource":
        """The same source for a machine that does not have the user's files.

        A problem in a file becomes an object together with the functions and data that it refers to, those of
        modules beside it included and those of installed packages not.
        """
        if self.pickled is None and not is_problem_file(self.name):
            return self
        problem = self.problem
        with _by_value(_own_modules(self._places())):
            return ProblemSource(self.name, _pickled(problem))

    def _places(self) -> list[Path]:
        """The directories of the user's own modules: that of the file or the script, and the current one."""
        if self.pickled is None:
            return [Path(f"{self.name.rpartition('.py')[0]}.py").parent]
        script = getattr(sys.modules["__main__"], "__file__", None)
        return [Path.cwd()] + ([] if script is None else [Path(script).resolve().parent])

    @property
    def problem(self) -> Problem:
        """The problem, loaded once."""
        return self._loaded[0]

    @property
    def loading_seconds(self) -> float:
        """How long the problem took to load."""
        return self._loaded[1]

    @cached_property
    def fingerprint(self) -> float:
        """The problem's `fingerprint`, computed once."""
        return fingerprint(self.problem)

    @cached_property
    def _loaded(self) -> tuple[Problem, float]:
        started = time.monotonic()
        problem = find_problem(self.name) if self.pickled is None else cloudpickle.loads(self.pickled)
        if self.scales is not None:
            problem = problem.scaled_as(self.scales)
        return problem, time.monotonic() - started

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was loaded: each process loads the problem itself."""
        return {"name": self.name, "pickled": self.pickled, "scales": self.scales}


def _pickled(problem: Problem) -> bytes:
    try:
        return cloudpickle.dumps(problem)
    except Exception as error:  # whatever the user's functions refer to may refuse
        raise RunError(
            f"the problem {problem.name!r} cannot be sent to worker processes: {error}; state it in a "
            "file and give the file's name."
        ) from error


def _own_modules(places: list[Path]) -> list[ModuleType]:
    """The modules that were loaded from some directories and belong to no installed package."""
    ours = Path(__file__).parents[1]
    installed = [ours, *map(Path, site.getsitepackages()), Path(sys.prefix), Path(sys.base_prefix)]

    def is_own(module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        if file is None or module.__name__ == "__main__":  # which goes by value anyway
            return False
        path = Path(file)
        return any(map(path.is_relative_to, places)) and not any(map(path.is_relative_to, installed))

    return [module for module in list(sys.modules.values()) if is_own(module)]


@contextmanager
def _by_value(modules: list[ModuleType]) -> Generator[None]:
    """Pickle what some modules define by value and not by name."""
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def fingerprint(problem: Problem) -> float:
    """A number that changes with anything that affects a training: the loss of a fixed small network.

    The network is the first of a few whose loss is finite; if there is none, the result is not a number.
    """
    for genome, seed in _TRIED:
        engine = make_engine("autograd", problem, genome)
        (loss,) = read_numbers(engine.loss_and_gradient(engine.layout.initial(seed))[0])
        if math.isfinite(loss):
            return loss
    return math.nan


def same_fingerprint(first: float, second: float) -> bool:
    """Whether two fingerprints, perhaps from different machines, belong to the same problem."""
    return math.isclose(first, second, rel_tol=_AGREEMENT) or (math.isnan(first) and math.isnan(second))
