"""The writing of reports to files: format, place, and protection of other files."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from evopinn.atomic_write import atomic_write
from evopinn.errors import ReportError
from evopinn.problem import Problem
from evopinn.run.run_result import RunResult
from evopinn.view.figures.comparisons import compared
from evopinn.view.figures.figure_table import BESIDE
from evopinn.view.figures.subjects import Run, run_of
from evopinn.view.report.gathering import gathered
from evopinn.view.report.markdown import pictures_of, render_markdown
from evopinn.view.report.page import GENERATOR, render_page
from evopinn.view.report.report_facts import ReportFacts, RunFacts

FORMATS: Mapping[str, tuple[str, ...]] = {"html": (".html", ".htm"), "md": (".md", ".markdown")}
"""The formats of a report, with the endings of their files, the usual one first."""

MOST_DRAWN = 6
"""The maximum number of runs side by side with figures of their own; more would make the file too large."""

_HEAD = 4096
_MARK = GENERATOR.encode()


def write_report(
    runs: Sequence[Run],
    path: Path | None = None,
    *,
    kind: str | None = None,
    problem: Problem | str | None = None,
    force: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write a report of one run, or of several side by side, whole or not at all.

    Args:
        runs: The runs: their results, directories or names; each is shown once.
        path: The file, whose directories are made; by default `report.html` in the run's directory, or here
            if there are several.
        kind: `html` or `md`; by default according to the path's ending, otherwise HTML.
        problem: The problem or its name, to replace the one that the runs name.
        force: Overwrite even a file that is not a report.
        say: Receives a sentence about each part that the report lacks.

    Returns:
        The file.

    Raises:
        ReportError: There is no run, or the file cannot or must not be written.
    """
    if not runs:
        raise ReportError("a report needs at least one run; give one.")
    found = list({run.directory.resolve(): run for run in map(run_of, runs)}.values())
    kind, path = _settled(found, path, kind)
    check_place(path, force)
    report = report_facts(found, problem)
    if kind == "md" and not force:
        _check_figures(report, path)
    try:
        _WRITERS[kind](report, path)
    except OSError as error:
        raise unwritable(path, error) from error
    for run in report.runs:
        if run.problem is None:
            say(f"the report of {run.record.name} does not show its problem: {run.problem_missing}")
    return path


def report_facts(runs: Sequence[RunResult], problem: Problem | str | None = None) -> ReportFacts:
    """The content of a report."""
    made, release = time.time(), version("evopinn")
    if len(runs) == 1:
        facts = gathered(runs[0], problem)
        return ReportFacts(_title(facts), (facts,), (), {}, made, release)
    names = BESIDE if len(runs) <= MOST_DRAWN else ()
    facts = tuple(gathered(run, problem, names) for run in runs)
    pictures, undrawn = compared(_labelled(runs))
    return ReportFacts(_joint_title(facts), facts, pictures, undrawn, made, release)


def check_place(path: Path, force: bool = False) -> None:
    """Refuse to overwrite a file that is not a report."""
    if path.is_dir():
        raise ReportError(f"{path} is a directory; give the name of a file: {path / 'report.html'}.")
    if not path.exists() or force:
        return
    try:
        with path.open("rb") as file:
            ours = _MARK in file.read(_HEAD)
    except OSError as error:
        raise unwritable(path, error) from error
    if not ours:
        raise ReportError(
            f"{path} exists but is not an evopinn report, so it is not overwritten; choose another name, or "
            "force it."
        )


def _check_figures(report: ReportFacts, path: Path) -> None:
    """Refuse to overwrite files that are not figures of the same report."""
    folder = _folder(path)
    try:
        before = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    except OSError as error:
        raise unwritable(path, error) from error
    for name in pictures_of(report):
        file = path.parent / folder / name
        if file.exists() and quote(f"{folder}/{name}") not in before:
            raise ReportError(
                f"{file} exists but is not a figure of {path}, so it is not overwritten; choose another name "
                "for the report, or force it."
            )


def _folder(path: Path) -> str:
    """The directory of the figures of a report in Markdown, beside the report."""
    return f"{path.stem}_files"


def unwritable(path: Path, error: OSError) -> ReportError:
    """The error for a report that the system does not let us write."""
    return ReportError(f"the report cannot be written to {path}: {error.strerror}; choose another place.")


def _settled(runs: Sequence[RunResult], path: Path | None, kind: str | None) -> tuple[str, Path]:
    if kind is not None and kind not in FORMATS:
        raise ReportError(f"a report is written as {' or '.join(FORMATS)}, not as {kind}.")
    if path is None:
        kind = kind or "html"
        name = f"report{FORMATS[kind][0]}"
        return kind, runs[0].directory / name if len(runs) == 1 else Path(name)
    by_ending = next((each for each, ends in FORMATS.items() if path.suffix.lower() in ends), None)
    if by_ending is None or kind not in (None, by_ending):
        endings = [ends[0] for each, ends in FORMATS.items() if kind in (None, each)]
        raise ReportError(f"a report cannot be written to {path}; end its name in {' or '.join(endings)}.")
    return by_ending, path


def _write_page(report: ReportFacts, path: Path) -> None:
    write_file(path, render_page(report).encode("utf-8", "replace"))


def _write_markdown(report: ReportFacts, path: Path) -> None:
    """The text, and the figures in a directory beside it, which are written first."""
    folder = _folder(path)
    for name, picture in pictures_of(report).items():
        write_file(path.parent / folder / name, picture.data)
    write_file(path, render_markdown(report, folder).encode("utf-8", "replace"))


_WRITERS: Mapping[str, Callable[[ReportFacts, Path], None]] = {"html": _write_page, "md": _write_markdown}


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, making its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, partial(_fill, data))


def _fill(data: bytes, path: Path) -> None:
    path.write_bytes(data)


def _title(run: RunFacts) -> str:
    title = run.problem.title if run.problem is not None else ""
    return title or run.record.goal.problem or run.record.name


def _joint_title(runs: Sequence[RunFacts]) -> str:
    problems = list(dict.fromkeys(run.record.goal.problem for run in runs))
    listed = ", ".join(problems[:3]) + (" and others" if len(problems) > 3 else "")
    return f"{len(runs)} searches side by side: {listed}"


def _labelled(runs: Sequence[RunResult]) -> dict[str, RunResult]:
    """Runs by their names in legends; names that occur several times get a number."""
    named: dict[str, RunResult] = {}
    for run in runs:
        name = f"{run.directory.resolve().name} ({run.method})"
        same = sum(each == name or each.startswith(f"{name} #") for each in named)
        named[f"{name} #{same + 1}" if same else name] = run
    return named
