"""Names of problems: of the catalogue, of a user's file, of a Python object."""

import os

from evopinn.checks import is_file

OBJECT = "python:"
"""The prefix of the name of a problem that was passed as an object."""


def is_problem_file(spec: str) -> bool:
    """Whether a specification names a file: `my_problem.py` or `my_problem.py:name`."""
    return split_spec(spec)[0].endswith(".py")


def absolute_spec(spec: str) -> str:
    """A specification with an absolute path; a name of the catalogue is unchanged."""
    if not is_problem_file(spec):
        return spec
    path, name = split_spec(spec)
    # Impossible names are left to the reader of the file.
    place = os.path.realpath(path) if is_file(path) else os.path.abspath(path)  # noqa: PTH100
    return f"{place}{':' * bool(name)}{name}"


def split_spec(spec: str) -> tuple[str, str]:
    """The path of a file and the name, possibly empty, of a problem in it."""
    head, colon, tail = spec.rpartition(":")
    return (head, tail) if colon and head.endswith(".py") else (spec, "")
