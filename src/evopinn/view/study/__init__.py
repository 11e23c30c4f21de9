"""Studies as people look at them: tables, figures, a page."""

from pathlib import Path

from evopinn.study.kinds import AnyStudy
from evopinn.view.study.tables import study_tables

__all__ = ["study_tables", "write_study_report"]


def write_study_report(
    study: AnyStudy, directory: Path, path: Path | None = None, *, force: bool = False
) -> Path:
    """The page of a study: see `evopinn.view.study.report.write_study_report`.

    It is loaded when it is first asked for: tables must not wait for matplotlib.
    """
    from evopinn.view.study import report

    return report.write_study_report(study, directory, path, force=force)
