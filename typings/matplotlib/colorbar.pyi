from matplotlib.ticker import Locator

class Colorbar:
    locator: Locator
    def update_ticks(self) -> None: ...
