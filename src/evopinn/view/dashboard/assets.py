"""The static files of the pages; none contains anything from a run."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from evopinn.view import dashboard
from evopinn.view.pages import page_text

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_SHARED = ("common.css",)


@cache
def assets() -> Mapping[str, tuple[str, str]]:
    """Text and media type of each file by its name."""
    found = {name: page_text(name) for name in _SHARED}
    for file in files(dashboard).joinpath("static").iterdir():
        if file.name.rpartition(".")[2] in _TYPES:
            found[file.name] = file.read_text(encoding="utf-8")
    return MappingProxyType({name: (text, _TYPES[name.rpartition(".")[2]]) for name, text in found.items()})


@cache
def shell(script: str) -> str:
    """The page that a script fills."""
    text = files(dashboard).joinpath("static", "page.html").read_text(encoding="utf-8")
    return text.replace("{script}", script)
