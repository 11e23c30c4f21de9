"""evopinn: give it a PDE, get back the physics-informed neural network that solves it best.

The public names are listed in `__init__.pyi`, for readers, type checkers and the interpreter alike. Each is
imported when it is first used, so that a command which needs no tensors does not wait for torch.
"""

from importlib.metadata import version

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__version__ = version("evopinn")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
