"""The part of matplotlib that is used here, with types for all arguments, which its own stubs leave open."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from matplotlib.colors import Colormap

colormaps: Mapping[str, Colormap]

def rc_context(rc: dict[str, Any] | None = ...) -> AbstractContextManager[None]: ...
