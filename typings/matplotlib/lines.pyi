from typing import Any

from matplotlib.artist import Artist
from numpy.typing import ArrayLike

class Line2D(Artist):
    def __init__(self, xdata: ArrayLike, ydata: ArrayLike, *, label: str = ..., **look: Any) -> None: ...
