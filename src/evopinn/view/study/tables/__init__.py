"""The tables of studies. Each is a `Sheet`: `rich()` is for the terminal, `markdown()` for files."""

from evopinn.view.study.tables.comparison import (
    accounting_table,
    contrasts_table,
    discovery_tables,
    methods_table,
)
from evopinn.view.study.tables.forecast import forecast_table
from evopinn.view.study.tables.kinds import study_tables
from evopinn.view.study.tables.reproduction import reproduction_table
from evopinn.view.study.tables.sensitivity import morris_table, ranking_table, sensitivity_table

__all__ = [
    "accounting_table",
    "contrasts_table",
    "discovery_tables",
    "forecast_table",
    "methods_table",
    "morris_table",
    "ranking_table",
    "reproduction_table",
    "sensitivity_table",
    "study_tables",
]
