"""What a step of L-BFGS costs besides evaluations."""

import statistics
import time

import torch
from torch import Tensor

from evopinn.training import LBFGS


class Stepping:
    """L-BFGS on a loss that costs next to nothing; made for `Isolated`."""

    def own_seconds(self, parameters: int, memory: int, steps: int) -> float:
        """The median time of a step with a full history, without what the loss took.

        Args:
            parameters: Length of θ.
            memory: How many steps are remembered.
            steps: How many are timed.
        """
        curvatures = torch.logspace(0, 6, parameters, dtype=torch.float64)
        spent = 0.0

        def bowl(theta: Tensor) -> tuple[float, Tensor]:
            nonlocal spent
            began = time.perf_counter()
            gradient = curvatures * theta
            loss = 0.5 * float(gradient @ theta)
            spent += time.perf_counter() - began
            return loss, gradient

        optimizer = LBFGS(memory=memory)
        state = optimizer.init(bowl, torch.ones(parameters, dtype=torch.float64))
        times: list[float] = []
        for number in range(memory + steps):
            spent, began = 0.0, time.perf_counter()
            state = optimizer.step(bowl, state)
            if number >= memory:
                times.append(time.perf_counter() - began - spent)
        if state.converged:
            raise RuntimeError("the loss was too easy: the optimiser had nothing to do.")
        return statistics.median(times)
