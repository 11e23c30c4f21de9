"""Tables of a configuration that take what they know and say in a sentence what is wrong with the rest."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from evopinn.checks import shown
from evopinn.errors import SearchError, UnknownNameError


class Strict(BaseModel):
    """A table in which every entry must be known and of the right kind.

    Attributes:
        unasked: Entries that are written and never asked for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    unasked: ClassVar[frozenset[str]] = frozenset()


T = TypeVar("T", bound=Strict)

_WORDS = {
    "Input should": "it must",
    "a valid integer": "a whole number",
    "a valid string": "a text",
    "a valid ": "a ",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "Value error, ": "",
}
"""Words of pydantic's, and what stands for them here."""


def validated(table: type[T], values: Mapping[str, Any], origin: str) -> T:
    """A table from plain data.

    Args:
        table: Which.
        values: Its entries; NumPy's scalars are taken for the numbers that they are.
        origin: What the data are called in a message.

    Raises:
        SearchError: Something is wrong with it; the first thing is told.
    """
    try:
        return table.model_validate(_plain(values))
    except ValidationError as error:
        raise _told(error, table, origin) from None


def _plain(value: object) -> Any:
    """The same without NumPy's scalars, which a file has no words for."""
    match value:
        case Mapping():
            return {name: _plain(each) for name, each in cast(Mapping[Any, Any], value).items()}
        case list() | tuple():
            return [_plain(each) for each in cast(Sequence[Any], value)]
        case np.generic():
            return cast(Any, value).item()
        case _:
            return value


def _told(error: ValidationError, table: type[Strict], origin: str) -> SearchError | UnknownNameError:
    """The first of a model's complaints, in a sentence."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _names(table, first["loc"][:-1])
        return UnknownNameError(f"entry of {origin}", place, known, f"There are {', '.join(known)}.")
    if first["type"] == "missing":
        return SearchError(f"{origin} does not say {place}; give it.")
    if first["type"] in ("dict_type", "model_type"):
        entries = _names(table, first["loc"])
        known = f" with any of {', '.join(entries)}" if entries else ""
        return SearchError(f"{origin} has {place} = {shown(first['input'])}; it must be a table{known}.")
    return SearchError(f"{origin} has {place} = {shown(first['input'])}; {_wish(first['msg'])}.")


def _names(table: type[Strict], path: Sequence[int | str]) -> list[str]:
    """The entries of the table at a path, with the path before them; none if there is no table."""
    before = ""
    for step in path:
        field = table.model_fields.get(str(step))
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        tables = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Strict)]
        if not tables:
            return []
        table, before = tables[0], f"{before}{step}."
    return [f"{before}{name}" for name in table.model_fields if name not in table.unasked]


def _wish(complaint: str) -> str:
    """What a model complains of, as our other messages say it."""
    for theirs, ours in _WORDS.items():
        complaint = complaint.replace(theirs, ours)
    return complaint[:1].lower() + complaint[1:]
