"""What people look at: tables, progress, figures, reports."""

from . import figures, report

__all__ = ["figures", "report"]
