import numpy as np
from numpy.typing import ArrayLike, NDArray

class Triangulation:
    triangles: NDArray[np.int32]
    def __init__(self, x: ArrayLike, y: ArrayLike, triangles: ArrayLike | None = ...) -> None: ...
