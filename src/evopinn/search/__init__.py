"""Search methods, which choose the genomes to train next from the scores of earlier ones.

A searcher knows only genomes and scores: it hands out tasks and receives their scores. So a toy fitness tests
it in milliseconds, and its driver may train anywhere and in any order.

The names are listed in `__init__.pyi`. Each is imported on use: schedules and tasks load no numpy.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
