from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal, overload

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colorbar import Colorbar
from matplotlib.layout_engine import LayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text
from numpy.typing import NDArray

class FigureBase(Artist):
    @property
    def figure(self) -> Figure | SubFigure: ...
    @property
    def dpi(self) -> float: ...
    @overload
    def subplots(self) -> Axes: ...
    @overload
    def subplots(
        self,
        nrows: int,
        ncols: int,
        *,
        sharex: bool = ...,
        sharey: bool = ...,
        squeeze: Literal[False],
    ) -> NDArray[np.object_]: ...
    @property
    def axes(self) -> list[Axes]: ...
    def subfigures(
        self, nrows: int, ncols: int, *, height_ratios: Sequence[float] = ..., squeeze: Literal[False]
    ) -> NDArray[np.object_]: ...
    def legend(
        self, handles: Sequence[Artist], labels: Sequence[str], *, loc: str = ..., ncols: int = ...
    ) -> Legend: ...
    def suptitle(self, t: str, *, size: float | str = ...) -> Text: ...
    def colorbar(
        self,
        mappable: Collection,
        *,
        ax: Axes = ...,
        cax: Axes = ...,
        label: str = ...,
        aspect: float = ...,
        pad: float = ...,
    ) -> Colorbar: ...

class SubFigure(FigureBase): ...

class Figure(FigureBase):
    def __init__(self, *, figsize: tuple[float, float] = ..., layout: LayoutEngine = ...) -> None: ...
    def get_figwidth(self) -> float: ...
    def savefig(
        self,
        fname: Path | IO[bytes],
        *,
        format: str = ...,
        dpi: float = ...,
        metadata: dict[str, Any] = ...,
    ) -> None: ...
