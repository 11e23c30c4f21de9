"""Studies as people look at them: tables, figures, a page."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from evopinn.view.study.tables import study_tables

if TYPE_CHECKING:
    from evopinn.view.study.report import write_study_report

__all__ = ["study_tables", "write_study_report"]


def __getattr__(name: str) -> Callable[..., Path]:
    """The page, loaded when it is first asked for: tables must not wait for matplotlib."""
    if name == "write_study_report":
        return import_module("evopinn.view.study.report").write_study_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
