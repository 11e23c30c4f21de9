"""The network of a genome: the layout of θ, the forward pass, the torch module.

The names are listed in `__init__.pyi`. Each is imported when it is first used: layouts without torch.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
