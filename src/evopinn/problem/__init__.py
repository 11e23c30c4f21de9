"""The statement of a PDE problem: domain, points, fields, conditions.

The names are listed in `__init__.pyi`. Each is imported when it is first used: names of problems without
torch.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
