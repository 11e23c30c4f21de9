"""Where a run's problem comes from, so that every worker has the same one and a resumed run has it again."""

import math
import shlex
import site
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import cloudpickle

from evopinn.engine import fetched, make_engine
from evopinn.errors import RunError
from evopinn.genome import Genome
from evopinn.network import initial_parameters
from evopinn.problem import Problem, absolute_spec, is_problem_file
from evopinn.problems import find_problem

OBJECT = "python:"
"""Begins the name of a problem that was given as an object and not by name."""

_TRIED = [
    (Genome.parse(f"layers=3 neurons=7 activation={activation}"), seed)
    for activation in ("tanh(x)", "exp(x)")
    for seed in range(4)
]
"""Networks whose losses tell problems apart. Not all of them are finite where a residual has a logarithm."""

_AGREEMENT = 1e-9


@dataclass(frozen=True)
class ProblemSource:
    """A problem as it travels: by name or file, or as an object that only this process and its workers see.

    Attributes:
        name: As in the run's configuration: a name of the catalogue, the absolute path of a file (with
            `:name`), or `python:` and the name of an object.
        pickled: The object. It goes to workers of this process and never to a disk.
    """

    name: str
    pickled: bytes | None = None

    @classmethod
    def of(cls, problem: Problem | str) -> "ProblemSource":
        """The source of a problem that a user gives."""
        if isinstance(problem, str):
            return cls(absolute_spec(problem) if is_problem_file(problem) else problem)
        # By value where it must be: a script's functions cannot be imported by workers.
        return cls(f"{OBJECT}{problem.name}", _pickled(problem))

    @classmethod
    def recorded(cls, name: str, directory: Path) -> "ProblemSource":
        """The source of a run's problem, which must be where it was.

        Args:
            name: As in the run's configuration.
            directory: The run's.
        """
        command = f"`evopinn resume {shlex.quote(str(directory))} --problem FILE`"
        if name.startswith(OBJECT):
            raise RunError(
                f"the problem {name.removeprefix(OBJECT)!r} of this run was a Python object, which is not "
                "stored; go on with it from Python: evopinn.search(problem, run=...). Or state the same in a "
                f"file: {command}."
            )
        file = Path(f"{name.rpartition('.py')[0]}.py")
        if is_problem_file(name) and not file.is_file():
            raise RunError(
                f"the problem of the run {directory} was in {file}, which is not there any more; put it "
                f"back, or say where it is now: {command}, or evopinn.resume(run, problem=file)."
            )
        return cls(name)

    def portable(self) -> "ProblemSource":
        """The same for a machine that does not have the user's files.

        A problem in a file travels as an object, with the functions and data that it refers to, those of
        modules beside it included. Installed packages do not travel.
        """
        if self.pickled is None and not is_problem_file(self.name):
            return self
        problem = self.load()
        with _by_value(_own_modules(self._places())):
            return ProblemSource(self.name, _pickled(problem))

    def _places(self) -> list[Path]:
        """Where a user's own modules lie: beside the file, or the script, and here."""
        if self.pickled is None:
            return [Path(f"{self.name.rpartition('.py')[0]}.py").parent]
        script = getattr(sys.modules["__main__"], "__file__", None)
        return [Path.cwd()] + ([] if script is None else [Path(script).resolve().parent])

    def load(self) -> Problem:
        """The problem."""
        return find_problem(self.name) if self.pickled is None else cloudpickle.loads(self.pickled)


def _pickled(problem: Problem) -> bytes:
    try:
        return cloudpickle.dumps(problem)
    except Exception as error:  # whatever the user's functions refer to may refuse
        raise RunError(
            f"the problem {problem.name!r} cannot be given to worker processes: {error}; state it in a "
            "file and give the file's name."
        ) from error


def _own_modules(places: list[Path]) -> list[ModuleType]:
    """The modules that were loaded from some directories, and are no installed packages."""
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
    """Have what stems from some modules pickled as it is and not by name."""
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def fingerprint(problem: Problem) -> float:
    """A number that changes with anything that matters to training: the loss of a fixed small network.

    It is that of the first of a few networks whose loss is finite, and not a number if none is.
    """
    for genome, seed in _TRIED:
        engine = make_engine("autograd", problem, genome)
        (loss,) = fetched(engine.loss_and_gradient(initial_parameters(engine.layout, seed))[0])
        if math.isfinite(loss):
            return loss
    return math.nan


def same_fingerprint(first: float, second: float) -> bool:
    """Whether two numbers stem from the same problem, computed on whatever machines."""
    return math.isclose(first, second, rel_tol=_AGREEMENT) or (math.isnan(first) and math.isnan(second))
