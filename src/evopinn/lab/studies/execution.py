"""The execution of a study: its runs one after another, each resumed where it stopped."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from evopinn.atomic_write import atomic_write
from evopinn.errors import RunError
from evopinn.lab.studies.study import Study, StudyRun
from evopinn.run import session
from evopinn.run.naming import request_digest
from evopinn.run.session import Observer, recorded_config, recorded_scales
from evopinn.store.directory import is_run
from evopinn.store.reader import Reader
from evopinn.store.toml_text import file_text, toml_data
from evopinn.workers.problem_source import ProblemSource, same_fingerprint

DESIGN = "study.toml"

Watched = Callable[[Callable[[Observer], bool]], bool]
"""Carries out a run, shown to a person, until it ends or is stopped; whether it ended."""


def is_begun(directory: Path) -> bool:
    """Whether a study was begun in a directory."""
    return (directory / DESIGN).exists()


def check_place(study: Study[Any], directory: Path) -> None:
    """Refuse a directory that holds anything but this study."""
    if is_begun(directory):
        if _asked(file_text(directory / DESIGN)) != _asked(study.design.toml()):
            raise RunError(
                f"{directory} holds another study, which its {DESIGN} describes; choose another name."
            )
    elif directory.is_dir() and any(directory.iterdir()):
        raise RunError(f"{directory} is not empty and holds no study; choose another name.")


def claim(study: Study[Any], directory: Path) -> None:
    """Make a study's directory, or check that it is this study's."""
    check_place(study, directory)
    if is_begun(directory):
        return
    _ = ProblemSource.of(study.design.problem).problem  # so that a mistake in it is reported first
    text = study.design.toml()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        atomic_write(directory / DESIGN, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{directory} cannot be written to: {error.strerror}.") from error


def carry_out(study: Study[Any], directory: Path, watched: Watched, say: Callable[[str], None]) -> bool:
    """Carry out the rest of a study.

    Args:
        study: The study.
        directory: The study's directory.
        watched: Carries out each run and shows it.
        say: Receives the title of each run that begins.

    Returns:
        Whether the study is finished; False if it was stopped.
    """
    claim(study, directory)
    source = cache(ProblemSource.of)  # a problem is loaded once for all runs
    for run in study.runs(directory):
        place = directory / run.name
        if is_run(place):
            _refuse_other(run, place, source)
            if _is_finished(place):
                continue
        say(f"{run.title}:")
        if not watched(lambda observer, run=run, place=place: _carry_out(run, place, source, observer)):
            return False
    return True


def _carry_out(
    run: StudyRun, place: Path, source: Callable[[str], ProblemSource], observer: Observer
) -> bool:
    observer = replace(observer, in_study=True)
    if is_run(place):
        workers = run.config.workers.model_dump(exclude_none=True)
        return session.resume(place, observer, workers_table=workers)
    place.parent.mkdir(parents=True, exist_ok=True)
    return session.begin(run.config, source(run.config.problem), place, observer)


def _refuse_other(run: StudyRun, place: Path, source: Callable[[str], ProblemSource]) -> None:
    """Refuse a run that does not belong to the study, or whose problem has changed."""
    with Reader(place) as reader:
        before = recorded_config(reader.about().config, place)
    recorded = before.recorded
    if recorded is None or recorded.request != request_digest(run.config, recorded.fingerprint):
        raise RunError(
            f"the run {place} was started with settings that differ from this study's; remove it to repeat "
            "it, or choose another name for the study."
        )
    problem = source(run.config.problem).scaled_as(recorded_scales(before))
    if not same_fingerprint(problem.fingerprint, recorded.fingerprint):
        raise RunError(
            f"the problem {run.config.problem} has changed since {place} was trained: it now "
            "produces different losses; restore it, or choose another name for the study with --study."
        )


def _is_finished(place: Path) -> bool:
    with Reader(place) as reader:
        return reader.state() == "finished"


def _asked(text: str) -> Mapping[str, object]:
    """A design without its workers, which do not affect the results."""
    return {name: value for name, value in toml_data(text).items() if name != "workers"}
