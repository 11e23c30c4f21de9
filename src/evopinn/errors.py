"""The errors that a user can cause, with one base class.

Each leaf also inherits from a built-in exception, so that code which does not import evopinn can
still catch a `ValueError`. A message is one sentence or two: what was given, what was expected, what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_MAX_CHARACTERS = 4000
_WINDOW = 60
_NO_MEMORY = (
    "can't allocate memory",
    "bad_alloc",
    "Unable to allocate",
    "out of memory",
)  # the last of a GPU


class EvopinnError(Exception):
    """The base class of all errors that evopinn raises on purpose."""

    def __str__(self) -> str:
        """The message; the middle of a very long one is left out."""
        text, half = super().__str__(), _MAX_CHARACTERS // 2
        return text if len(text) <= _MAX_CHARACTERS else f"{text[:half]} … {text[-half:]}"


class DomainError(EvopinnError, ValueError):
    """A domain, a part of its boundary, or a request for points on it is invalid."""


class ProblemError(EvopinnError, ValueError):
    """A name, a shape, a value or a set of points in the statement of a problem is wrong."""


class MemoryShortageError(EvopinnError, MemoryError):
    """A user's function ran out of memory; the problem itself may be fine on another machine."""


def lacks_memory(error: BaseException) -> bool:
    """Whether an exception reports a lack of memory; torch has no class for that on a CPU."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY)


class GenomeError(EvopinnError, ValueError):
    """A genome is malformed or lies outside the search space."""


class GenomeSyntaxError(GenomeError):
    """A genome's text cannot be read.

    Attributes:
        text: The whole text.
        position: Index of the first character that is wrong.
        reason: What is wrong there.
    """

    def __init__(self, text: str, position: int, reason: str) -> None:
        self.text = text
        self.position = position
        self.reason = reason
        # The surroundings of a mistake in a long text, in one line, or the caret would point at nothing.
        start = 0 if len(text) <= 3 * _WINDOW else max(0, position - _WINDOW)
        line = "".join(map(_harmless, text[start : start + 3 * _WINDOW]))
        shown = f"\n  {line}\n  {' ' * (position - start)}^" if line.strip() else ""
        super().__init__(f"{_brief(reason)} (at position {position}){shown}")


class UnknownNameError(EvopinnError, LookupError):
    """A name is unknown; the message suggests similar ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        near = get_close_matches(name[:_WINDOW], list(known), n=3, cutoff=0.5)
        suggestion = f"; did you mean {' or '.join(near)}?" if near else "."
        super().__init__(f"there is no {kind} called {name!r}{suggestion}{' ' + hint if hint else ''}")


def _harmless(character: str) -> str:
    """The character, or a placeholder if it could control the terminal."""
    return character if character.isprintable() else " " if character.isspace() else "\ufffd"


def _brief(text: str) -> str:
    most = 5 * _WINDOW
    return text if len(text) <= most else f"{text[: most - _WINDOW]} … {text[-_WINDOW:]}"


class EngineError(EvopinnError, ValueError):
    """A vector passed to an engine has the wrong size, precision or device."""


class TrainingError(EvopinnError, ValueError):
    """A setting of a training is invalid."""


class TrainingWarning(UserWarning):
    """A training is likely to give a poor solution, told before its first step."""


class StoredModelError(EvopinnError, ValueError):
    """A saved model is missing, incomplete, or was not saved by evopinn."""


class RunError(EvopinnError, OSError):
    """A run's directory is in use, damaged, too new, full or not a run, or its processes cannot start."""


class SearchError(EvopinnError, ValueError):
    """A setting of a search is invalid, or a search receives a result that it did not ask for."""


class FigureError(EvopinnError, ValueError):
    """A figure cannot be drawn from these data, or cannot be written."""


class ReportError(EvopinnError, ValueError):
    """A report cannot be made from these runs, or cannot be written."""


class DashboardError(EvopinnError, OSError):
    """The dashboard cannot be served: its port is in use, or its host or directory does not exist."""
