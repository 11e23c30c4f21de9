"""Pictures of networks and of their solutions: drawn once, one at a time, and kept while there is room."""

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from matplotlib.axes import Axes

from evopinn.errors import EvopinnError, FigureError, UnknownNameError
from evopinn.genome import Genome
from evopinn.problem import Problem, is_problem_file
from evopinn.run.pages import Browser
from evopinn.run.result import SearchResult
from evopinn.run.summary import Intent, find_best
from evopinn.run.weights import kept_weights, load_weights
from evopinn.run.wording import why_no_network
from evopinn.training import TrainingResult
from evopinn.view.dashboard.apart import Apart
from evopinn.view.dashboard.places import sound
from evopinn.view.figures import activation, draw, formula, structure, tree
from evopinn.view.figures.activations import draw_activation, layer_uses
from evopinn.view.figures.style import Panel, styled, whole_figure
from evopinn.view.figures.subjects import problem_again, problem_of
from evopinn.view.figures.table import Subject

_ROOM = 40_000_000
"""Bytes of pictures that are kept."""

_SHARPNESS = 170
"""Dots an inch; a page of seven inches is then sharp on most screens."""

_PATIENCE = 30.0

Key = tuple[object, ...]


@dataclass(frozen=True)
class Picture:
    """A picture as a browser takes it."""

    content: bytes
    kind: str

    @property
    def media_type(self) -> str:
        """What a browser calls it."""
        return "image/svg+xml" if self.kind == "svg" else "image/png"


@dataclass(frozen=True)
class Sitter:
    """Of whom a picture is made: a task of a run.

    Attributes:
        directory: The run's.
        task: Its number.
        may_load: Whether the problem's file, which is a program, may be run for it.
    """

    directory: Path
    task: int
    may_load: bool

    @property
    def genome(self) -> Genome:
        """The genome."""
        with Browser(self.directory) as browser:
            return Genome.parse(browser.asked(self.task).genome)

    @property
    def trained(self) -> TrainingResult | Genome:
        """The network, if it was kept; else its genome."""
        return load_weights(self.directory, self.task) if self.is_kept else self.genome

    @property
    def is_kept(self) -> bool:
        """Whether there are weights."""
        return self.task in kept_weights(self.directory)

    @property
    def intent(self) -> Intent:
        """What the run is to do."""
        with Browser(self.directory) as browser:
            return Intent.of(browser.about().config, self.directory)

    def problem_of(self, network: TrainingResult) -> Problem:
        """The problem that a network was trained on, if it is still the same."""
        intent = self.intent
        if is_problem_file(intent.source) and not self.may_load:
            raise FigureError(f"to draw this, the problem's file has to be run: {intent.source}.")
        return problem_of(network, problem_again(intent))

    @property
    def runs_a_program(self) -> bool:
        """Whether the problem's file is run for a picture."""
        return self.may_load and is_problem_file(self.intent.source)

    @property
    def subject(self) -> Subject:
        """What the figures that need a network and its problem are made of."""
        network = SearchResult(self.directory).weights(self.task)
        return Subject(network, self.problem_of(network))


def _activation(of: Sitter) -> Panel:
    trained = of.trained
    if isinstance(trained, Genome):
        return activation(trained)
    try:
        problem = of.problem_of(trained)
    except EvopinnError:  # it cannot be had: the activation around zero
        problem = None
    return draw_activation(trained.genome.activation, layer_uses(trained, problem))


_MAKERS: Mapping[str, tuple[str, Callable[[Sitter], Axes | Panel]]] = MappingProxyType(
    {
        "structure": ("svg", lambda of: structure(of.trained)),
        "formula": ("svg", lambda of: formula(of.genome)),
        "tree": ("svg", lambda of: tree(of.genome)),
        "activation": ("png", _activation),
        "solution": ("png", lambda of: draw("solution", of.subject)),
        "error": ("png", lambda of: draw("error", of.subject)),
    }
)
"""Pictures by name: in which format, and how they are made."""


class Drawings:
    """Pictures that were drawn, the latest of them.

    Args:
        apart: Draws those for which a problem's file is run.
        room: Bytes to keep.
        patience: Seconds to wait for others to be drawn.
    """

    def __init__(self, apart: Apart, room: int = _ROOM, patience: float = _PATIENCE) -> None:
        self._apart = apart
        self._room = room
        self._patience = patience
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._kept: OrderedDict[Key, Picture] = OrderedDict()

    def picture(self, name: str, sitter: Sitter) -> Picture:
        """A picture, drawn if it was not before.

        Raises:
            EvopinnError: It cannot be made; the message says why.
        """
        if name not in _MAKERS:
            raise UnknownNameError("picture", name, _MAKERS, hint=f"There are {', '.join(_MAKERS)}.")
        with sound(sitter.directory):
            key = (name, *_key(sitter))
            picture = self._found(key)
            if picture is None and sitter.runs_a_program:
                picture = self._apart.run(draw_picture, name, sitter)
            elif picture is None:
                picture = self._drawn_here(key, name, sitter)
            self._keep(key, picture)
        return picture

    def _drawn_here(self, key: Key, name: str, sitter: Sitter) -> Picture:
        if not self._drawing.acquire(timeout=self._patience):  # drawing is for one thread at a time
            raise FigureError("other pictures are being drawn; look again in a while.")
        try:
            # Of two that ask for the same, the second finds it drawn.
            return self._found(key) or draw_picture(name, sitter)
        finally:
            self._drawing.release()

    def _found(self, key: Key) -> Picture | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Key, picture: Picture) -> None:
        with self._lock:
            self._kept[key] = picture
            while len(self._kept) > 1 and sum(len(each.content) for each in self._kept.values()) > self._room:
                self._kept.popitem(last=False)


def draw_picture(name: str, sitter: Sitter) -> Picture:
    """A picture."""
    kind, make = _MAKERS[name]
    with sound(sitter.directory):
        return Picture(_drawn(make(sitter), kind), kind)


def best_task(directory: Path) -> int:
    """The task of a run's best network."""
    with sound(directory), Browser(directory) as browser:
        best = find_best(browser)
        if best is None:
            reason = why_no_network(directory, browser.state(), browser.failures())
            raise FigureError(f"the run {directory} has no network: {reason}.")
    return best.entry.task


def _key(sitter: Sitter) -> Key:
    """Tells pictures apart: a run may be replaced by another, weights come and go, and problems change."""
    with Browser(sitter.directory) as browser:
        created = browser.about().created
    stamp = file_stamp(sitter.intent.source) if sitter.may_load else None
    return sitter.directory, created, sitter.task, sitter.is_kept, sitter.may_load, stamp


def file_stamp(source: str) -> tuple[int, int] | None:
    """What changes with a problem's file; None if there is none."""
    path = Path(f"{source.rpartition('.py')[0]}.py")
    if not is_problem_file(source):
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _drawn(figure: Axes | Panel, kind: str) -> bytes:
    buffer = io.BytesIO()
    undated = {"Date": None} if kind == "svg" else {"Software": None}
    with styled():
        whole_figure(figure).savefig(buffer, format=kind, dpi=_SHARPNESS, metadata=undated)
    return buffer.getvalue()
