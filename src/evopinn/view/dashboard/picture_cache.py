"""Pictures of a run's figures: drawn once, one at a time, and cached within limits."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evopinn.errors import FigureError
from evopinn.problem import is_problem_file
from evopinn.run.goal import Goal
from evopinn.run.record import find_best
from evopinn.run.run_result import RunResult
from evopinn.run.wording import why_no_network
from evopinn.store.browser import Browser
from evopinn.store.kept_networks import kept_weights
from evopinn.view.dashboard.cache import stamp_of
from evopinn.view.dashboard.listing import sound
from evopinn.view.dashboard.sandbox import Sandbox
from evopinn.view.figures.figure_table import FIGURES, Page, Scene, draw, find_figure
from evopinn.view.figures.pictures import Picture, picture, picture_row
from evopinn.view.figures.subjects import Subject

_ROOM = 40_000_000
"""Bytes of pictures that are kept."""

_PATIENCE = 30.0

Key = tuple[object, ...]


@dataclass(frozen=True)
class PictureRequest:
    """A picture that a page asks for.

    Attributes:
        figure: The name of the figure.
        directory: The run's.
        task: The task whose network is shown; None for a figure of the search.
        run_file: Whether the problem's file, which is a program, may be run for it.
    """

    figure: str
    directory: Path
    task: int | None
    run_file: bool

    @classmethod
    def of_best(cls, figure: str, directory: Path, run_file: bool) -> "PictureRequest":
        """A figure of a run: of its search, or of its most accurate network."""
        of_run = find_figure(figure).of_run
        return cls(figure, directory, None if of_run else best_task(directory), run_file)


class PictureCache:
    """The most recently drawn pictures.

    Args:
        sandbox: Draws those for which a problem's file is run.
        room: Bytes to keep.
        patience: Seconds to wait for others to be drawn.
    """

    def __init__(self, sandbox: Sandbox, room: int = _ROOM, patience: float = _PATIENCE) -> None:
        self._sandbox = sandbox
        self._room = room
        self._patience = patience
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._kept: OrderedDict[Key, Picture] = OrderedDict()

    def picture(self, request: PictureRequest) -> Picture:
        """A picture, drawn unless it is cached.

        Raises:
            EvopinnError: It cannot be made; the message says why.
        """
        find_figure(request.figure)
        with sound(request.directory):
            key, runs_file = _key(request)
            found = self._found(key)
            if found is None and runs_file:
                found = self._sandbox.run(draw_picture, request)
            elif found is None:
                found = self._drawn_here(key, request)
            self._keep(key, found)
        return found

    def _drawn_here(self, key: Key, request: PictureRequest) -> Picture:
        if not self._drawing.acquire(timeout=self._patience):  # drawing is for one thread at a time
            raise FigureError("other pictures are being drawn; try again in a moment.")
        try:
            # Of two that ask for the same, the second finds it drawn.
            return self._found(key) or draw_picture(request)
        finally:
            self._drawing.release()

    def _found(self, key: Key) -> Picture | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Key, found: Picture) -> None:
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > 1 and sum(len(each.data) for each in self._kept.values()) > self._room:
                self._kept.popitem(last=False)


def draw_picture(request: PictureRequest) -> Picture:
    """A picture."""
    with sound(request.directory):
        run = RunResult(request.directory)
        subject = Subject(run, task=request.task, run_files=request.run_file)
        return picture(picture_row(request.figure, Scene()), draw(request.figure, subject))


def best_task(directory: Path) -> int:
    """The task of a run's most accurate network."""
    with sound(directory), Browser(directory) as browser:
        best = find_best(browser)
        if best is None:
            reason = why_no_network(directory, browser.state(), browser.failures())
            raise FigureError(f"the run {directory} has no network: {reason}.")
    return best.entry.task


def page_pictures(
    page: Page, scene: Scene, source: str, genome: str = "", note: str = ""
) -> list[dict[str, Any]]:
    """The pictures of a page, with their texts.

    Args:
        page: Which of the dashboard's.
        scene: What captions depend on.
        source: Where the run's problem comes from.
        genome: The network's, in text.
        note: What is added to the captions of figures of the solution.
    """
    file = source if is_problem_file(source) else ""
    return [
        _page_picture(name, scene, file, genome, note)
        for name, row in FIGURES.items()
        if page in row.dashboard
    ]


def _page_picture(name: str, scene: Scene, file: str, genome: str, note: str) -> dict[str, Any]:
    row = FIGURES[name]
    title, caption = row.words(scene)
    missing = row.needs in {"network", "problem"} and not scene.trained
    needs_file = bool(file) and row.needs == "problem"
    return {
        "name": name,
        "title": title,
        "caption": f"{caption} {note}" if note and row.needs == "problem" else caption,
        "words": f"{row.shows}: {genome}" if genome and row.needs == "genome" else row.shows,
        "kind": row.kind,
        "colours": row.needs == "problem",  # of values: they keep their meaning in the dark
        "missing": "This network's weights were not kept, so this cannot be drawn." if missing else "",
        "at_once": not needs_file,
        "press": f"Draw it (runs {file})" if needs_file else "Draw it",
        "better": f"Draw it with the problem's points (runs {file})"
        if file and row.gains and scene.trained
        else "",
    }


def _key(request: PictureRequest) -> tuple[Key, bool]:
    """The key of a picture, and whether it runs the problem's file.

    A run may be replaced by another, weights come and go, problems change, and a search goes on.
    """
    with Browser(request.directory) as browser:
        about = browser.about()
    source = Goal.of(about.config, request.directory).source
    kept = request.task in kept_weights(request.directory)
    state = stamp_of(request.directory)[0] if request.task is None else ()
    stamp = file_stamp(source) if request.run_file else None
    return (request, about.created, kept, state, stamp), request.run_file and is_problem_file(source)


def file_stamp(source: str) -> tuple[int, int] | None:
    """A stamp that changes with a problem's file; None without one."""
    path = Path(f"{source.rpartition('.py')[0]}.py")
    if not is_problem_file(source):
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
