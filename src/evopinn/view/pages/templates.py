"""Templates of pages, which escape all their arguments."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup


def environment(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """The environment of templates, which are named by their files below the package `evopinn`.

    Args:
        filters: Filters by name, in addition to those of jinja.
    """
    found = Environment(
        loader=FunctionLoader(template_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tables: Any = found  # jinja leaves the types of its tables open
    tables.filters.update(filters)
    return found


def drawn(template: str, macro: str, *arguments: Any) -> Markup:
    """The output of a macro of a template."""
    module: Any = _plain_environment().get_template(template).module
    return getattr(module, macro)(*arguments)


@cache
def _plain_environment() -> Environment:
    return environment({})


def template_text(name: str) -> str:
    """The text of a template, or of another file below the package `evopinn`."""
    return files("evopinn").joinpath(name).read_text(encoding="utf-8")
