"""The errors a user can cause, under one root.

Each leaf also inherits the built-in exception that it is, so that code which knows nothing of evopinn can
still catch a `ValueError`. A message is one sentence or two: what was given, what was expected, what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_CHARACTERS = 4000
_WINDOW = 60
_NO_MEMORY = (
    "can't allocate memory",
    "bad_alloc",
    "Unable to allocate",
    "out of memory",
)  # the last of a GPU


class EvopinnError(Exception):
    """The root of all errors that evopinn raises on purpose."""

    def __str__(self) -> str:
        """The message; what was given may be megabytes, of which the middle is left out."""
        text, half = super().__str__(), _MOST_CHARACTERS // 2
        return text if len(text) <= _MOST_CHARACTERS else f"{text[:half]} … {text[-half:]}"


class DomainError(EvopinnError, ValueError):
    """A domain, a part of its boundary, or a request for points on it makes no sense."""


class ProblemError(EvopinnError, ValueError):
    """A problem is stated wrongly: a name, a shape, a value, a set of points."""


class MemoryShortageError(EvopinnError, MemoryError):
    """A function of the user's found no memory, which is no mistake of the problem: it may do elsewhere."""


def lacks_memory(error: BaseException) -> bool:
    """Whether an exception says that there is no memory left; torch has no class for that on a CPU."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY)


class GenomeError(EvopinnError, ValueError):
    """A genome is malformed or lies outside the search space."""


class GenomeSyntaxError(GenomeError):
    """A genome's text cannot be read.

    Attributes:
        text: The whole text that was given.
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
    """A name is in no table; the message suggests the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        near = get_close_matches(name[:_WINDOW], list(known), n=3, cutoff=0.5)
        suggestion = f"; did you mean {' or '.join(near)}?" if near else "."
        super().__init__(f"there is no {kind} called {name!r}{suggestion}{' ' + hint if hint else ''}")


def _harmless(character: str) -> str:
    """One character for another, in its place, that does not act on a terminal."""
    return character if character.isprintable() else " " if character.isspace() else "\ufffd"


def _brief(text: str) -> str:
    most = 5 * _WINDOW
    return text if len(text) <= most else f"{text[: most - _WINDOW]} … {text[-_WINDOW:]}"


class EngineError(EvopinnError, ValueError):
    """A vector that an engine is given has the wrong size, precision or device."""


class TrainingError(EvopinnError, ValueError):
    """Settings of a training make no sense."""


class StoredModelError(EvopinnError, ValueError):
    """A saved model is missing, incomplete or not one of ours."""


class RunError(EvopinnError, OSError):
    """A run's directory or processes fail: taken, damaged, newer, not a run, out of space, not startable."""


class SearchError(EvopinnError, ValueError):
    """Settings of a search make no sense, or a search is told what it did not ask for."""


class FigureError(EvopinnError, ValueError):
    """A figure cannot be made of what was given, or cannot be written."""


class ReportError(EvopinnError, ValueError):
    """A report cannot be made of what was given, or cannot be written."""


class DashboardError(EvopinnError, OSError):
    """The dashboard cannot be served: its port is taken, its host unknown, its directory none."""
