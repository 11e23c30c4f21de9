"""A study as one HTML file to send to a colleague."""

import math
import shlex
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from evopinn.errors import ReportError
from evopinn.run.reading import Reader
from evopinn.study.course import DESIGN
from evopinn.study.design import Design
from evopinn.study.kinds import AnyStudy
from evopinn.study.trials import Trial
from evopinn.view.numbers import duration
from evopinn.view.report.page import render
from evopinn.view.report.writing import FORMATS, check_place, unwritable, write_file
from evopinn.view.study.facts import StudyFacts
from evopinn.view.study.parts import KINDS, Kind
from evopinn.view.study.wording import case_label, scale_note


def write_study_report(
    study: AnyStudy, directory: Path, path: Path | None = None, *, force: bool = False
) -> Path:
    """Write the page of a study, whole or not at all.

    Args:
        study: Any of the studies; its runs must have been begun.
        directory: Where its runs lie.
        path: The file, whose directories are made; `report.html` in the study's directory by default.
        force: Overwrite a file that is no report, too.

    Returns:
        The file.

    Raises:
        ReportError: The file cannot or must not be written.
    """
    path = directory / "report.html" if path is None else path
    if path.suffix.lower() not in FORMATS["html"]:
        raise ReportError(f"the report of a study cannot be written to {path}; end its name in .html.")
    check_place(path, force)
    page = render("study/page.html.jinja", report=study_facts(study, directory))
    try:
        write_file(path, page.encode("utf-8", "replace"))
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def study_facts(study: AnyStudy, directory: Path) -> StudyFacts:
    """All that the page of a study says."""
    design = study.design
    kind, trials = KINDS[design.kind], study.trials(directory)
    found, parts = kind.shown(study, directory, trials)
    return StudyFacts(
        title=kind.title.format(problem=case_label(design.family)),
        asked=kind.asked,
        tiles=_tiles(design, trials),
        found=found,
        parts=parts,
        scale=scale_note(design),
        design=design.toml(),
        repeat=_repeat(kind, directory),
        versions=_versions(trials),
        made=time.time(),
        version=version("evopinn"),
    )


def _tiles(design: Design, trials: Sequence[Trial]) -> dict[str, str]:
    # A training may be there under several names, as that of a baseline is.
    distinct = {(trial.run, trial.entry.task): trial.entry for trial in trials}.values()
    failed = sum(not math.isfinite(entry.loss) for entry in distinct)
    return {
        "Cases": ", ".join(map(case_label, design.case_names())),
        "Trainings of a model": f"{design.trials or 0:,}, of {design.epochs or 0:,} epochs",
        "Trainings of models": f"{len(distinct):,}" + (f", {failed:,} failed" if failed else ""),
        "Their time of workers": duration(sum(entry.seconds for entry in distinct)),
        "Scale": f"{design.scale:g}",
        "Seed": f"{design.seed}",
    }


def _repeat(kind: Kind, directory: Path) -> str:
    place = shlex.quote(str(directory))
    return f"evopinn {kind.command} --config {shlex.quote(str(directory / DESIGN))} --study {place}"


def _versions(trials: Sequence[Trial]) -> dict[str, str]:
    """Those that the first run was begun with."""
    if not trials:
        return {}
    with Reader(trials[0].run) as reader:
        return dict(reader.about().versions)
