"""Shared parts of all pages in a browser: one style sheet, one script that sorts tables."""

from functools import cache
from importlib.resources import files


@cache
def page_text(name: str) -> str:
    """The text of a file of this package: `common.css` or `sorting.js`."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
