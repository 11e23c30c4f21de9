import numpy as np
from numpy.typing import ArrayLike, NDArray

class Colormap:
    def __call__(self, X: ArrayLike) -> NDArray[np.float64]: ...

class Normalize:
    vmin: float
    vmax: float
    def __init__(self, vmin: float | None = ..., vmax: float | None = ...) -> None: ...

class LogNorm(Normalize): ...
