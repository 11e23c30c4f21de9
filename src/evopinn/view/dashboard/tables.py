"""The tables of the dashboard's pages, and tables as data that its scripts show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evopinn.store.browser import SORTS, EvaluationLine
from evopinn.view.run_tables import RUNS, side_by_side_table
from evopinn.view.tables import Cell, Column, Facts, Table

Data = dict[str, Any]


def _status(line: EvaluationLine) -> str:
    return line.status if line.final else f"{line.status} (attempt {line.attempt})"


def _by_name(name: str) -> Callable[[Any], Any]:
    return lambda record: getattr(record, name)


OVERVIEW = tuple(
    # What a narrow screen has without being pushed aside is what a narrow terminal keeps.
    sorted(
        (replace(each, kind="run") if each.heads else each for each in RUNS), key=lambda each: each.gives_way
    )
)
"""The columns of the list of runs."""

COMPARED = (
    *(replace(each, kind="run") if each.heads else each for each in side_by_side_table(()).columns),
    Column("task", "task", lambda run: run.best and run.best.entry.task),
)
"""The columns of runs side by side."""

INDIVIDUALS = tuple(
    replace(each, sortable=each.data_key in SORTS)
    for each in (
        Column("task", "task", _by_name("task")),
        Column("generation", "count", _by_name("generation")),
        Column("status", "name", _status),
        Column("loss", "scientific", _by_name("loss")),
        Column("error", "scientific", _by_name("error")),
        Column("epochs", "count", _by_name("epochs")),
        Column("time", "seconds", _by_name("seconds"), key="seconds"),
        Column("genome", "code", _by_name("genome")),
    )
)
"""The columns of all evaluations, a row for each attempt; the database sorts them."""

ATTEMPTS = (
    Column("attempt", "count", _by_name("attempt")),
    Column("status", "name", _by_name("status")),
    Column("loss", "scientific", _by_name("loss")),
    Column("time", "seconds", _by_name("seconds")),
    Column("worker", "id", _by_name("worker")),
    Column("note", "note", _by_name("note")),
)
"""The columns of the attempts at a task."""

ANCESTORS = (
    Column("task", "task", _by_name("task")),
    Column("generation", "count", _by_name("generation")),
    Column("loss", "scientific", _by_name("loss")),
    Column("made by", "words", lambda entry: ", ".join(entry.operations)),
    Column("genome", "code", _by_name("genome")),
)
"""The columns of the ancestors of a network."""


def page_table(table: Table, key: Callable[[Any], object], *, sortable: bool = True) -> Data:
    """A table for a page.

    Args:
        table: The table.
        key: What tells a record from the others, now and later.
        sortable: Whether the page may sort it.
    """
    columns = table.columns if sortable else [replace(each, sortable=False) for each in table.columns]
    rows = [
        page_row(columns, record, str(key(record))) | {"chosen": place in table.chosen_rows}
        for place, record in enumerate(table.records)
    ]
    sorted_by = next((each.data_key for each in columns if each.name == table.sorted_by), "")
    return {"title": table.title, "columns": page_columns(columns), "rows": rows, "sorted_by": sorted_by}


def page_columns(columns: Sequence[Column]) -> list[Data]:
    """Columns for a page."""
    return [
        {
            "key": each.data_key,
            "label": each.header,
            "kind": each.kind,
            "right": each.format.right,
            "heads": each.heads,
            "sortable": each.sortable,
        }
        for each in columns
    ]


def page_row(columns: Sequence[Column], record: Any, key: str = "", more: Data | None = None) -> Data:
    """A record for a page; `more` holds what else scripts need."""
    cells = [_shown(each.cell(record, place)) for place, each in enumerate(columns)]
    return {"key": key, "cells": cells, "more": more or {}}


def page_cell(cell: Cell) -> Data:
    """A value for a page, on its own."""
    return {"kind": cell.kind, **_shown(cell)}


def _shown(cell: Cell) -> Data:
    """A value as it is shown, and to sort by."""
    return {"text": cell.typeset, "value": cell.data}


def blank_row(columns: Sequence[Column], key: str, words: Mapping[str, str]) -> Data:
    """A row without a record: texts by column name."""
    said = [words.get(each.name, "") for each in columns]
    return {"key": key, "cells": [{"text": each, "value": each or None} for each in said]}


def page_facts(facts: Facts) -> list[Data]:
    """Named values for a page: each in parts, which are words or cells."""
    return [
        {
            "name": fact.name,
            "parts": [each if isinstance(each, str) else page_cell(each) for each in fact.said],
        }
        for fact in facts.facts
    ]
