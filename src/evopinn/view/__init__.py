"""What people look at: tables, progress, figures."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """The figures, loaded when they are first asked for: tables must not wait for matplotlib."""
    if name == "figures":
        return import_module("evopinn.view.figures")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
