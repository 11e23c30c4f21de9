"""The catalogue: well-known problems, each with a solution to measure errors against.

The names are listed in `__init__.pyi`. Each is imported when it is first used: the index without torch.

Examples:
    >>> from evopinn.catalogue import problem
    >>> problem("lame:IV").fields
    ('u', 'v')
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
