"""Reports: a run, or several side by side, as one file to send to a colleague."""

from evopinn.view.report.writing import FORMATS, write_report

__all__ = ["FORMATS", "write_report"]
