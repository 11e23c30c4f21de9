"""What the page of a study says, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evopinn.view.report.facts import Picture
from evopinn.view.study.sheets import Sheet


@dataclass(frozen=True)
class StudyPart:
    """A part of the page.

    Attributes:
        key: What links to it are called.
        title: Its heading.
        words: What there is to see.
        sheets: Tables.
        pictures: Figures, below them.
        undrawn: Figures that could not be drawn, with the reason.
    """

    key: str
    title: str
    words: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    pictures: Sequence[Picture] = ()
    undrawn: Mapping[str, str] | None = None


@dataclass(frozen=True)
class StudyFacts:
    """The page.

    Attributes:
        title: Its title.
        asked: What was asked, in a sentence.
        tiles: What to know first, by name.
        found: What came out, in sentences.
        parts: In order.
        scale: What the study's scale does, in words.
        design: What was asked, as TOML.
        repeat: The command that does it again.
        versions: Of the software that it was done with.
        made: When the page was made, in seconds since 1970.
        version: Of evopinn, that it was made with.
    """

    title: str
    asked: str
    tiles: Mapping[str, str]
    found: Sequence[str]
    parts: Sequence[StudyPart]
    scale: str
    design: str
    repeat: str
    versions: Mapping[str, str]
    made: float
    version: str
