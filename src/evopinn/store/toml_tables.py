"""Strict tables, which accept only known entries of the right kind, and their messages."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from evopinn.checks import shown
from evopinn.errors import SearchError, UnknownNameError

_WORDS = {
    "Input should": "it must",
    "a valid integer": "a whole number",
    "a valid string": "a text",
    "a valid ": "a ",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "Value error, ": "",
}
"""Words of pydantic, and the words that replace them in our messages."""


class Strict(BaseModel):
    """A table in which every entry must be known and of the right kind.

    Attributes:
        unasked: Entries that are written but never offered in a message.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    unasked: ClassVar[frozenset[str]] = frozenset()


T = TypeVar("T", bound=Strict)


def validated(table: type[T], values: Mapping[str, Any], origin: str) -> T:
    """A table from plain data.

    Args:
        table: The kind of table.
        values: Its entries; NumPy's scalars count as numbers.
        origin: What a message calls the data.

    Raises:
        SearchError: The data are invalid; the message names the first fault.
    """
    try:
        return table.model_validate(_plain_numbers(values))
    except ValidationError as error:
        raise _first_fault(error, table, origin) from None


def _plain_numbers(value: object) -> Any:
    """The same data with NumPy's scalars as Python's, which TOML can hold."""
    match value:
        case Mapping():
            return {name: _plain_numbers(each) for name, each in cast(Mapping[Any, Any], value).items()}
        case list() | tuple():
            return [_plain_numbers(each) for each in cast(Sequence[Any], value)]
        case np.generic():
            return cast(Any, value).item()
        case _:
            return value


def _first_fault(error: ValidationError, table: type[Strict], origin: str) -> SearchError | UnknownNameError:
    """The first fault that a model found, in a sentence."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _entry_paths(table, first["loc"][:-1])
        return UnknownNameError(f"entry of {origin}", place, known, f"There are {', '.join(known)}.")
    if first["type"] == "missing":
        return SearchError(f"{origin} does not say {place}; give it.")
    if first["type"] in ("dict_type", "model_type"):
        entries = _entry_paths(table, first["loc"])
        known = f" with any of {', '.join(entries)}" if entries else ""
        return SearchError(f"{origin} has {place} = {shown(first['input'])}; it must be a table{known}.")
    return SearchError(f"{origin} has {place} = {shown(first['input'])}; {_expectation(first['msg'])}.")


def _entry_paths(table: type[Strict], path: Sequence[int | str]) -> list[str]:
    """The entries of the table at a path, each with that path; none if there is no table."""
    before = ""
    for step in path:
        field = table.model_fields.get(str(step))
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        tables = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Strict)]
        if not tables:
            return []
        table, before = tables[0], f"{before}{step}."
    return [f"{before}{name}" for name in table.model_fields if name not in table.unasked]


def _expectation(complaint: str) -> str:
    """A fault that a model found, in the words of our other messages."""
    for theirs, ours in _WORDS.items():
        complaint = complaint.replace(theirs, ours)
    return complaint[:1].lower() + complaint[1:]
