"""Texts of `name=value` fields, the one-line form of genomes and search spaces."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from evopinn.errors import GenomeSyntaxError

_FIELD = re.compile(r"(?<!\w)(?P<name>[^\W\d]\w*)\s*=\s*")

MAX_DIGITS = 9
"""The limit of digits of a number; Python refuses to read thousands of them."""

MAX_CHARACTERS = 20_000
"""The limit of characters of a genome or search space: no trainable network needs as many."""

WHOLE = rf"\d{{1,{MAX_DIGITS}}}"


@dataclass(frozen=True)
class TextField:
    """One field of a text.

    Attributes:
        text: The whole text, for messages.
        name: The text before the equals sign.
        value: The text after it, without quotes and surrounding space.
        position: Index of the value's first character in the text.
    """

    text: str
    name: str
    value: str
    position: int

    def error(self, reason: str, offset: int = 0) -> GenomeSyntaxError:
        """An error at this value, or `offset` characters into it."""
        return GenomeSyntaxError(self.text, self.position + offset, reason)

    def integer(self) -> int:
        """The value as a whole number."""
        if not re.fullmatch(WHOLE, self.value, re.ASCII):
            reason = f"{self.name} must be a whole number of at most {MAX_DIGITS} digits"
            raise self.error(f"{reason}, not {self.value!r}")
        return int(self.value)

    def items(self) -> tuple["TextField", ...]:
        """The parts of a list, `a,b` or `[a,b]`, each with its own position; none for `none` or `[]`."""
        value, start = self.value, self.position
        if value.startswith("["):
            if not value.endswith("]"):
                raise self.error("this bracket is never closed")
            value, start = value[1:-1], start + 1
        if value.strip() in {"none", ""}:
            return ()
        parts: list[TextField] = []
        for part in value.split(","):
            leading = len(part) - len(part.lstrip())
            parts.append(TextField(self.text, self.name, part.strip(), start + leading))
            start += len(part) + 1
        return tuple(parts)


def split_fields(text: str, known: Sequence[str], required: Collection[str] = ()) -> dict[str, TextField]:
    """The fields of a text by name, in any order.

    Raises:
        GenomeSyntaxError: Something is not a field, or a field is unknown, empty, there twice, or missing.

    Examples:
        >>> split_fields("layers=6 neurons=48", ["layers", "neurons"])["neurons"].value
        '48'
    """
    check_length(text)
    matches = list(_FIELD.finditer(text))
    start = len(text) - len(text.lstrip())
    if text.strip() and (not matches or matches[0].start() > start):
        raise GenomeSyntaxError(text, start, f"expected name=value, where name is one of {', '.join(known)}")
    ends = [match.start() for match in matches[1:]] + [len(text)]
    fields: dict[str, TextField] = {}
    for match, end in zip(matches, ends, strict=False):
        name = match["name"]
        if name not in known:
            near = get_close_matches(name[:40], known, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]}?" if near else f"expected {', '.join(known)}"
            raise GenomeSyntaxError(text, match.start(), f"there is no field {name}; {advice}")
        if name in fields:
            raise GenomeSyntaxError(text, match.start(), f"the field {name} is given twice")
        fields[name] = _unquoted(
            TextField(text, name, text[match.end() : end].rstrip(" \t\r\n,;"), match.end())
        )
    for name in required:
        if name not in fields:
            raise GenomeSyntaxError(text, len(text.rstrip()), f"the field {name} is missing; add {name}=...")
    return fields


def check_length(text: str) -> None:
    """Refuse a text that is too long to be a genome or a search space."""
    if len(text) > MAX_CHARACTERS:
        raise GenomeSyntaxError(text, MAX_CHARACTERS, f"more than {MAX_CHARACTERS:,} characters")


def _unquoted(field: TextField) -> TextField:
    value, position = field.value, field.position
    if value[:1] in {'"', "'"}:
        if len(value) < 2 or value[-1] != value[0]:
            raise field.error("this quote is never closed")
        value, position = value[1:-1], position + 1
    if not value:
        raise field.error(f"the field {field.name} is empty")
    return TextField(field.text, field.name, value, position)
