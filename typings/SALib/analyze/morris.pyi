from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

def analyze(
    problem: Mapping[str, Any],
    X: NDArray[np.float64],
    Y: NDArray[np.float64],
    num_resamples: int = 100,
    conf_level: float = 0.95,
    scaled: bool = False,
    print_to_console: bool = False,
    num_levels: int = 4,
    seed: int | np.random.Generator | None = None,
) -> Mapping[str, NDArray[np.float64]]: ...
