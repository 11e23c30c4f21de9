"""The reading of TOML from untrusted sources, within limits."""

import errno
import tomllib
from pathlib import Path
from typing import Any, cast

from evopinn.checks import is_file

_MOST_CHARACTERS = 1_000_000
"""The maximum length of a configuration, a thousand times the usual one."""

_MOST_BITS = 4096


def toml_data(text: str) -> dict[str, Any]:
    """The plain data of a TOML text.

    Raises:
        ValueError: It is not TOML, is too long or nested too deeply, or has a number of thousands of digits.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"it has more than {_MOST_CHARACTERS:,} characters")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _refuse_giants(data)
    return data


def _refuse_giants(value: object) -> None:
    """Refuse whole numbers that Python reads in hexadecimal but refuses to print."""
    match value:
        case int() if value.bit_length() > _MOST_BITS:
            raise ValueError("it has a number of thousands of digits")
        case dict():
            for inner in cast("dict[str, object]", value).values():
                _refuse_giants(inner)
        case list():
            for inner in cast("list[object]", value):
                _refuse_giants(inner)
        case _:
            pass


def file_text(path: Path) -> str:
    """The text of a regular file; a pipe might block, and a device may have no end."""
    if not is_file(path):
        path.stat()  # raises the reason if there is none
        raise OSError(errno.EINVAL, "It is not a file")
    with path.open(encoding="utf-8-sig") as file:
        text = file.read(_MOST_CHARACTERS + 1)
    if len(text) > _MOST_CHARACTERS:
        raise OSError(errno.EFBIG, f"It has more than {_MOST_CHARACTERS:,} characters")
    return text
