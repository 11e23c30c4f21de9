"""Views of runs: tables, progress, figures, reports and the dashboard.

The names are listed in `__init__.pyi`. Each is imported on use: tables without matplotlib.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
