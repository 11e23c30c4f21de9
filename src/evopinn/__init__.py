"""evopinn: give it a PDE, get back the physics-informed neural network that solves it best.

The public names are listed in `__init__.pyi`, for readers, type checkers and the interpreter alike. Each is
imported when it is first used, so that a command which needs no tensors does not wait for torch.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]


class _Package(ModuleType):
    """The package, whose function `search` is not hidden by importing the sub-package of that name."""

    @property
    def __version__(self) -> str:
        """The installed version; looking it up takes a while."""
        from importlib.metadata import version

        return version("evopinn")

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """Pickle the package by name, as any module: functions of problem files refer to it."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
