"""The runs that a dashboard shows, by name: those directly below one directory, and nothing outside it."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from evopinn.errors import EvopinnError, RunError
from evopinn.store.directory import DATABASE, LOCK, WEIGHTS, is_run, runs_in

_PARTS = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK, WEIGHTS)


class UnknownRunError(RunError):
    """No run has this name, or it must not be shown."""


@dataclass(frozen=True)
class ListedRun:
    """A run and its name, or the reason why it cannot be shown."""

    name: str
    directory: Path
    reason: str = ""


@dataclass(frozen=True)
class RunListing:
    """The directory in which runs are found.

    Attributes:
        root: The directory that they lie in, or a run itself. It may come into being later.
    """

    root: Path

    def all(self) -> list[ListedRun]:
        """All runs, with the reason for each that must not be shown."""
        if not self.root.exists():
            return []
        return [self._place(directory) for directory in runs_in(self.root)]

    def find(self, name: str) -> Path:
        """The directory of a run.

        Raises:
            UnknownRunError: There is none, or it lies elsewhere.
        """
        unknown = UnknownRunError(f"there is no run called {name!r} in {self.root}.")
        if not _is_plain(name):
            raise unknown
        try:
            alone = is_run(self.root)
            directory = self.root if alone else self.root / name
            if (alone and name != _name(self.root)) or not is_run(directory):
                raise unknown
        except RunError:  # a name that the system does not take, or that may not be looked at
            raise unknown from None
        place = self._place(directory)
        if place.reason:
            raise UnknownRunError(place.reason)
        return directory

    def _place(self, directory: Path) -> ListedRun:
        name = _name(directory)
        shown = os.fsencode(name).decode(errors="replace")
        if shown != name:
            return ListedRun(shown, directory, "its name is not UTF-8; rename it to view it.")
        home = os.path.realpath(self.root)
        if not all(Path(os.path.realpath(path)).is_relative_to(home) for path in _entrances(directory)):
            return ListedRun(
                name,
                directory,
                f"the run {name!r} links to files outside {self.root}; open it where it is stored.",
            )
        return ListedRun(name, directory)


def _entrances(directory: Path) -> Iterator[Path]:
    """The paths that could lead out of a run: itself, its files and its weights."""
    yield directory
    for folder, names in ((directory, _PARTS), (directory / WEIGHTS, None)):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink() and (names is None or entry.name in names):
                    yield Path(entry)


def contained(directory: Path, name: str) -> Path:
    """A file of a run, which must exist inside its directory.

    Args:
        directory: The run's.
        name: The file's path in it; ours, never a user's.
    """
    path = directory / name
    try:
        found = path.is_file() and path.resolve().is_relative_to(directory.resolve())
    except OSError:
        found = False
    if not found:
        raise UnknownRunError(f"the run {directory} has no file {name}.")
    return path


@contextmanager
def sound(directory: Path) -> Generator[None]:
    """Report any failure to read a record as damage."""
    try:
        yield
    except EvopinnError:
        raise
    except OSError as error:  # files come and go
        raise RunError(f"the run {directory}: {error.filename} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise RunError(
            f"the run {directory}: its record is damaged ({reason}); restore a copy of it."
        ) from error


def _is_plain(name: str) -> bool:
    """Whether a name is directly below a directory; hidden names are drafts of runs."""
    return bool(name) and not name.startswith(".") and not set(name) & {"/", "\\", "\0"}


def _name(directory: Path) -> str:
    return directory.resolve().name if directory.name in ("", "..") else directory.name
