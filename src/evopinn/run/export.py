"""Exports of the evaluations of a run as flat rows, one per attempt: for pandas, CSV and JSON lines."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

from evopinn.errors import RunError
from evopinn.run.architecture import activation_text, structure_text
from evopinn.run.record import finite
from evopinn.store.database import as_read_errors
from evopinn.store.reader import Reader
from evopinn.store.records import Entry

Row = dict[str, Any]
Columns = Mapping[str, Callable[[Entry], Any]]

_PAGE = 1000


def evaluation_rows(directory: Path) -> Iterator[Row]:
    """A row for each attempt, in the order of tasks; read page by page, so that memory stays small."""
    with Reader(directory) as reader:
        yield from _rows(reader, _columns(reader.fields()))


def export_evaluations(directory: Path, path: Path) -> int:
    """Write all rows to a file that does not exist yet, whole or not at all.

    Args:
        directory: The run's.
        path: Its ending is one of `ENDINGS`.

    Returns:
        The number of rows.
    """
    with Reader(directory) as reader:
        columns = _columns(reader.fields())
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("x", encoding="utf-8", newline="")
        except FileExistsError:
            raise RunError(f"{path} exists already and is not overwritten; choose another name.") from None
        count = 0
        try:
            with file:
                write = _WRITERS[path.suffix](file, list(columns))
                for row in _rows(reader, columns):
                    write(row)
                    count += 1
        except BaseException:  # Ctrl-C too must leave nothing half done
            path.unlink(missing_ok=True)
            raise
    return count


def _rows(reader: Reader, columns: Columns) -> Iterator[Row]:
    after = -1
    while entries := reader.page(after, _PAGE):
        for entry in entries:
            with as_read_errors(reader.directory):
                row = {name: value(entry) for name, value in columns.items()}
            yield row
        after = entries[-1].task


def _columns(fields: Sequence[str]) -> Columns:
    """The columns and their values of an evaluation, with one error column per field."""
    return {
        **_taken("task", "attempt", "final", "generation", "genome"),
        "layers": lambda entry: _structure(entry)["layers"],
        "neurons": lambda entry: _structure(entry)["neurons"],
        "activation": lambda entry: activation_text(entry.genome),
        "operations": lambda entry: ", ".join(entry.operations),
        "parents": lambda entry: ", ".join(map(str, entry.parents)),
        **_taken("epochs", "seed", "loss", "error"),
        **{f"error_{field}": _error_of(field) for field in fields},
        **_taken("seconds", "status", "worker", "started", "ended", "note"),
    }


def _taken(*names: str) -> Columns:
    return {name: attrgetter(name) for name in names}


def _structure(entry: Entry) -> dict[str, int]:
    words = dict(word.split("=") for word in structure_text(entry.genome).split())
    return {name: int(words[name]) for name in ("layers", "neurons")}


def _error_of(field: str) -> Callable[[Entry], float | None]:
    return lambda entry: entry.errors.get(field)


def _csv_writer(file: TextIO, columns: Sequence[str]) -> Callable[[Row], object]:
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    return writer.writerow


def _line_writer(file: TextIO, _columns: Sequence[str]) -> Callable[[Row], object]:
    def write(row: Row) -> None:
        plain = {name: finite(value) if isinstance(value, float) else value for name, value in row.items()}
        file.write(json.dumps(plain, allow_nan=False, ensure_ascii=False) + "\n")

    return write


_WRITERS = {".csv": _csv_writer, ".jsonl": _line_writer}

ENDINGS = tuple(_WRITERS)
"""The endings of files that can be written."""
