"""Carrying out a study: one run after another, each of which goes on where it was."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol

from evopinn.errors import RunError
from evopinn.genome import Genome
from evopinn.run.config import Config
from evopinn.run.cost import cost_of_epochs, typical_cost
from evopinn.run.naming import request_digest
from evopinn.run.place import is_run
from evopinn.run.reading import Reader
from evopinn.run.session import Audience, begin, go_on, recorded_config, timed
from evopinn.run.snapshot import Snapshot
from evopinn.run.source import ProblemSource, fingerprint, same_fingerprint
from evopinn.run.speed import Pace
from evopinn.run.toml_text import file_text, toml_data
from evopinn.study.design import Design
from evopinn.study.parts import Load, Part
from evopinn.training.whole import write_whole

DESIGN = "study.toml"

Watched = Callable[[Callable[[Audience], bool]], bool]
"""Lets a run go, shown to a person, until it ends or is stopped; says whether it came to its end."""


class Study(Protocol):
    """What a study does: runs, the later ones of which may follow from what the earlier ones found."""

    @property
    def design(self) -> Design:
        """What is asked, settled."""
        ...

    def loads(self) -> Sequence[Load]:
        """What there is to do, in the order of doing."""
        ...

    def parts(self, directory: Path) -> Iterable[Part]:
        """The runs, in order. Each is finished before the next is asked for."""
        ...


@dataclass(frozen=True)
class Forecast:
    """How long the parts of a study will take.

    Attributes:
        loads: The parts.
        seconds: Of each.
    """

    loads: Sequence[Load]
    seconds: Sequence[float]


def is_begun(directory: Path) -> bool:
    """Whether a study was begun there."""
    return (directory / DESIGN).exists()


def check_place(study: Study, directory: Path) -> None:
    """Refuse a directory that holds anything but this study."""
    if is_begun(directory):
        if _asked(file_text(directory / DESIGN)) != _asked(study.design.toml()):
            raise RunError(
                f"{directory} holds another study, which its {DESIGN} describes; choose another name."
            )
    elif directory.is_dir() and any(directory.iterdir()):
        raise RunError(f"{directory} is not empty and holds no study; choose another name.")


def claim(study: Study, directory: Path) -> None:
    """Make a study's directory, or see that it is this study's."""
    check_place(study, directory)
    if is_begun(directory):
        return
    ProblemSource.of(study.design.problem).load()  # says what is wrong with it before anything is written
    text = study.design.toml()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_whole(directory / DESIGN, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{directory} cannot be written to: {error.strerror}.") from error


def carry_out(study: Study, directory: Path, watched: Watched, say: Callable[[str], None]) -> bool:
    """Do what is left of a study.

    Args:
        study: Which.
        directory: Where its runs lie.
        watched: Shows each run while it goes.
        say: Told, in a sentence, which part begins.

    Returns:
        Whether it came to its end; False if it was stopped.
    """
    claim(study, directory)
    now = cache(_fingerprint)
    for part in study.parts(directory):
        place = directory / part.name
        if is_run(place):
            _refuse_other(part, place, now)
            if _is_finished(place):
                continue
        say(f"{part.title}:")
        if not watched(lambda audience, part=part, place=place: _let_go(part, place, _within(audience))):
            return False
    return True


def forecast(study: Study, watched: Watched) -> Forecast | None:
    """How long a study will take here, from short trainings on each kind of work.

    Cases of a problem that have as many points are taken to be as fast as the first of them.

    Returns:
        None if it was stopped.
    """
    paces: dict[tuple[tuple[int, ...], str, str], tuple[Pace, int]] = {}
    points = cache(_points)
    loads, seconds = study.loads(), list[float]()
    for load in loads:
        key = (points(load.problem), load.optimizer, load.space)
        if key not in paces:
            found = _pace(study.design, load, watched)
            if found is None:
                return None
            paces[key] = found
        seconds.append(_seconds(load, *paces[key]))
    return Forecast(loads, seconds)


def _within(audience: Audience) -> Audience:
    """Who is told of a run that is a part of a study."""

    def watch(now: Snapshot) -> None:
        audience.watch(replace(now, in_study=True))

    return replace(audience, watch=watch)


def _let_go(part: Part, place: Path, audience: Audience) -> bool:
    if is_run(place):
        workers = part.config.workers.model_dump(exclude_none=True)
        return go_on(place, audience, workers_table=workers)
    place.parent.mkdir(parents=True, exist_ok=True)
    return begin(part.config, ProblemSource.of(part.config.problem), place, audience)


def _points(problem: str) -> tuple[int, ...]:
    """The points of each term of a problem."""
    return tuple(term.count for term in ProblemSource.of(problem).load().terms())


def _fingerprint(problem: str) -> float:
    return fingerprint(ProblemSource.of(problem).load())


def _refuse_other(part: Part, place: Path, now: Callable[[str], float]) -> None:
    """Refuse a run that is not the study's, or whose problem has changed: one study is of one problem."""
    with Reader(place) as reader:
        recorded = recorded_config(reader.about().config, place).recorded
    if recorded is None or recorded.request != request_digest(part.config, recorded.fingerprint):
        raise RunError(
            f"the run {place} was begun with other settings than the study has for it; remove it to have it "
            "done anew, or choose another name for the study."
        )
    if not same_fingerprint(now(part.config.problem), recorded.fingerprint):
        raise RunError(
            f"the problem {part.config.problem} has changed since {place} was trained: its losses are "
            "others; put it back as it was, or choose another name for the study with --study."
        )


def _is_finished(place: Path) -> bool:
    with Reader(place) as reader:
        return reader.state() == "finished"


def _pace(design: Design, load: Load, watched: Watched) -> tuple[Pace, int] | None:
    """How fast such trainings are, and on how many workers."""
    found: list[tuple[Pace, int]] = []
    config = Config.of(
        {
            "problem": load.problem,
            "space": load.space,
            "training": {
                "optimizer": load.optimizer,
                "engine": design.engine,
                "coarseness": float(design.coarseness or 1),
            },
            "workers": design.workers.model_dump(exclude_none=True),
        }
    )

    def time(audience: Audience) -> bool:
        pace = timed(config, ProblemSource.of(load.problem), _within(audience))
        found.extend([] if pace is None else [pace])
        return pace is not None

    return found[0] if watched(time) else None


def _seconds(load: Load, pace: Pace, workers: int) -> float:
    """Genomes that are known count for what they cost, others as typical ones."""
    cost = cost_of_epochs(load.optimizer)
    asked = {"problem": load.problem, "space": load.space, "training": {"optimizer": load.optimizer}}
    space = Config.of(asked).search_space()
    weights = [cost(Genome.parse(text)) for text in load.genomes]
    share = sum(weights) / len(weights) / typical_cost(space, cost) if weights else load.mean_cost
    each = pace.seconds_per_epoch * share * load.epochs + pace.seconds_per_training * load.trainings
    return each / min(workers, max(load.trainings, 1))


def _asked(text: str) -> Mapping[str, object]:
    """A design but for its workers, which change nothing in what is found."""
    return {name: value for name, value in toml_data(text).items() if name != "workers"}
