"""Problems in a user's own file."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from evopinn.errors import EvopinnError, ProblemError
from evopinn.problem.binding import user_line
from evopinn.problem.problem import Problem


def is_problem_file(spec: str) -> bool:
    """Whether a specification names a file: `my_problem.py` or `my_problem.py:name`."""
    return _split(spec)[0].endswith(".py")


def load_problem(spec: str) -> Problem:
    """Read a problem from a Python file.

    Args:
        spec: `path/to/file.py`, or `path/to/file.py:name` if the file has several problems. The name may also
            be that of a function without arguments that returns a problem.
    """
    path, name = _split(spec)
    module = _run(Path(path))
    problems = {key: value for key, value in vars(module).items() if isinstance(value, Problem)}
    if name:
        value = vars(module).get(name)
        if callable(value) and not isinstance(value, Problem | type):
            value = value()
        if not isinstance(value, Problem):
            raise ProblemError(f"{path} has no problem called {name!r}; {_listing(problems)}.")
        return value
    if len(problems) == 1:
        return next(iter(problems.values()))
    if "problem" in problems:
        return problems["problem"]
    raise ProblemError(f"{path} does not say which problem is meant; {_listing(problems)}.")


def _split(spec: str) -> tuple[str, str]:
    head, colon, tail = spec.rpartition(":")
    return (head, tail) if colon and head.endswith(".py") else (spec, "")


def _listing(problems: dict[str, Problem]) -> str:
    if not problems:
        return "there is no Problem at its top level: write problem = evopinn.Problem(...)"
    return f"it has {', '.join(problems)}: choose one with file.py:name"


def _run(path: Path) -> ModuleType:
    """Run the file as a module that can import its neighbours."""
    if not path.is_file():
        raise ProblemError(f"there is no file {path}; give the path of a Python file with a Problem in it.")
    path = path.resolve()
    spec = importlib.util.spec_from_file_location(f"evopinn_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ProblemError(f"{path} cannot be run as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses and the like look for the module of a class
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except EvopinnError as error:
        raise ProblemError(f"{error}{user_line(error)}") from error
    except Exception as error:
        what = error.msg if isinstance(error, SyntaxError) else error
        raise ProblemError(f"{type(error).__name__}: {what}{user_line(error)}.") from error
    finally:
        sys.path.remove(str(path.parent))
    return module
