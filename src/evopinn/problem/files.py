"""Problems in a user's own file."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from evopinn.checks import is_file
from evopinn.errors import EvopinnError, ProblemError
from evopinn.problem.binding import describe_error, error_class, user_line
from evopinn.problem.names import split_spec
from evopinn.problem.problem import Problem

T = TypeVar("T")

_NAMES_LINE = re.compile(r", line \d+\)")


def load_problem(spec: str) -> Problem:
    """Read a problem from a Python file.

    Args:
        spec: `path/to/file.py`, or `path/to/file.py:name` if the file has several problems. The name may also
            be that of a function without arguments that returns a problem.
    """
    path, name = split_spec(spec)
    module = _run(Path(path))
    problems = {key: value for key, value in vars(module).items() if isinstance(value, Problem)}
    if name:
        value = vars(module).get(name)
        if callable(value) and not isinstance(value, Problem | type) and not _needs_arguments(value):
            value = _guarded(value)
        if not isinstance(value, Problem):
            raise ProblemError(f"{path} has no problem called {name!r}; {_listing(path, problems)}.")
        return _identified(value, spec)
    if len(problems) == 1 or "problem" in problems:
        return _identified(problems.get("problem", next(iter(problems.values()))), spec)
    raise ProblemError(f"{path} does not say which problem to use; {_listing(path, problems)}.")


def _listing(path: str, problems: dict[str, Problem]) -> str:
    if not problems:
        return "there is no Problem at its top level: write problem = evopinn.Problem(...)"
    return f"it has {', '.join(problems)}: write {path}:{next(iter(problems))}"


def _needs_arguments(function: Callable[..., object]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _identified(problem: Problem, spec: str) -> Problem:
    """Name a problem after its file if it has no name of its own."""
    return replace(problem, name=spec) if problem.name == Problem.name else problem


def _run(path: Path) -> ModuleType:
    """Run the file as a module that can import its neighbours."""
    if not is_file(path):
        raise ProblemError(f"there is no file {path}; give the path of a Python file with a Problem in it.")
    path = path.resolve()
    spec = importlib.util.spec_from_file_location(f"evopinn_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ProblemError(f"{path} cannot be run as Python.")
    module = importlib.util.module_from_spec(spec)
    loader = spec.loader
    sys.modules[spec.name] = module  # where dataclasses and the like look for the module of a class
    sys.path.insert(0, str(path.parent))
    try:
        _guarded(lambda: loader.exec_module(module))
    finally:
        sys.path.remove(str(path.parent))
    return module


def _guarded(run: Callable[[], T]) -> T:
    """Run a user's code; an error in it becomes one of ours, in one sentence."""
    try:
        return run()
    except EvopinnError as error:
        text = str(error)
        place = "" if _NAMES_LINE.search(text) else user_line(error)
        raise error_class(error)(f"{text}{place}") from error
    except (Exception, SystemExit) as error:  # a user's code may raise anything, and may try to exit
        raise error_class(error)(f"{describe_error(error)}.") from error
