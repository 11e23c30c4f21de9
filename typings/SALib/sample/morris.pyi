from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

def sample(
    problem: Mapping[str, Any],
    N: int,
    num_levels: int = 4,
    optimal_trajectories: int | None = None,
    local_optimization: bool = True,
    seed: int | np.random.Generator | None = None,
) -> NDArray[np.float64]: ...
