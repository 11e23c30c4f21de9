"""The page of a study: one HTML file to send to a colleague."""

import math
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evopinn.errors import ReportError
from evopinn.lab.studies.design import Design
from evopinn.lab.studies.execution import DESIGN
from evopinn.lab.studies.kinds import KINDS
from evopinn.lab.studies.labels import case_label, scale_note
from evopinn.lab.studies.page_parts import PagePart
from evopinn.lab.studies.study import Study
from evopinn.lab.studies.trials import Trial
from evopinn.store.reader import Reader
from evopinn.view.numbers import duration
from evopinn.view.report.page import render
from evopinn.view.report.writing import FORMATS, check_place, unwritable, write_file


@dataclass(frozen=True)
class StudyFacts:
    """The content of the page.

    Attributes:
        title: Its title.
        asked: The question, in a sentence.
        tiles: The most important facts, by name.
        found: The results, in sentences.
        parts: Its parts, in order.
        scale: The effects of the scale, in words.
        design: The design, as TOML.
        repeat: The command that repeats the study.
        versions: Versions of the software that trained.
        made: When the page was made, in seconds since 1970.
        version: The version of evopinn that made it.
    """

    title: str
    asked: str
    tiles: Mapping[str, str]
    found: Sequence[str]
    parts: Sequence[PagePart]
    scale: str
    design: str
    repeat: str
    versions: Mapping[str, str]
    made: float
    version: str


def write_study_page(
    study: Study[Any], directory: Path, path: Path | None = None, *, force: bool = False
) -> Path:
    """Write the page of a study, completely or not at all.

    Args:
        study: The study; its runs must have started.
        directory: The study's directory.
        path: The file, whose directories are made; `report.html` in the study's directory by default.
        force: Overwrite even a file that is not a report.

    Returns:
        The file.

    Raises:
        ReportError: The file cannot or must not be written.
    """
    path = directory / "report.html" if path is None else path
    if path.suffix.lower() not in FORMATS["html"]:
        raise ReportError(f"the report of a study cannot be written to {path}; end its name in .html.")
    check_place(path, force)
    page = render("lab/studies/study_page.html.jinja", report=study_facts(study, directory))
    try:
        write_file(path, page.encode("utf-8", "replace"))
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def study_facts(study: Study[Any], directory: Path) -> StudyFacts:
    """The content of the page of a study."""
    design, trials = study.design, study.trials(directory)
    found, parts = study.page(directory)
    return StudyFacts(
        title=study.title.format(problem=case_label(design.family)),
        asked=study.question,
        tiles=_tiles(design, trials),
        found=found,
        parts=parts,
        scale=scale_note(design),
        design=design.toml(),
        repeat=_repeat(design, directory),
        versions=_versions(trials),
        made=time.time(),
        version=version("evopinn"),
    )


def _tiles(design: Design, trials: Sequence[Trial]) -> dict[str, str]:
    # A training may occur under several names, as that of a baseline does.
    distinct = {(trial.run, trial.entry.task): trial.entry for trial in trials}.values()
    failed = sum(not math.isfinite(entry.loss) for entry in distinct)
    return {
        "Cases": ", ".join(map(case_label, design.case_names())),
        "Trainings per model": f"{design.trials or 0:,}, of {design.epochs or 0:,} epochs",
        "Trainings of models": f"{len(distinct):,}" + (f", {failed:,} failed" if failed else ""),
        "Their training time": duration(sum(entry.seconds for entry in distinct)),
        "Scale": f"{design.scale:g}",
        "Seed": f"{design.seed}",
    }


def _repeat(design: Design, directory: Path) -> str:
    file, place = shlex.quote(str(directory / DESIGN)), shlex.quote(str(directory))
    return f"evopinn {KINDS[design.kind].command} --config {file} --study {place}"


def _versions(trials: Sequence[Trial]) -> dict[str, str]:
    """The versions with which the first run was started."""
    if not trials:
        return {}
    with Reader(trials[0].run) as reader:
        return dict(reader.about().versions)
