import numpy as np
from numpy.typing import NDArray

class Locator:
    def tick_values(self, vmin: float, vmax: float) -> NDArray[np.float64]: ...

class MaxNLocator(Locator):
    def __init__(self, nbins: int = ..., *, integer: bool = ..., min_n_ticks: int = ...) -> None: ...
