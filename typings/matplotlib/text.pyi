from typing import Any

from matplotlib.artist import Artist

class Text(Artist):
    def get_text(self) -> str: ...
    def set_size(self, fontsize: float | str) -> None: ...
    def set_fontweight(self, weight: str) -> None: ...

class Annotation(Text):
    arrow_patch: Any
