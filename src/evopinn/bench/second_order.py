"""What a step of Levenberg-Marquardt costs, and of what, beside the bare product JᵀJ."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from evopinn.bench.cases import Case
from evopinn.engine import make_engine
from evopinn.network import initial_parameters
from evopinn.training import LM, Work
from evopinn.training.budget import Budgeted
from evopinn.training.linearised import Dense, lower_gram


class SecondOrder:
    """Levenberg-Marquardt on a case; made for `Isolated`."""

    def parts(self, case: Case, rounds: int) -> dict[str, Any]:
        """Medians of a step and its parts, in seconds, taken in turn while a training goes on.

        Args:
            case: The problem and network.
            rounds: How many steps are timed.
        """
        problem = case.statement()
        engine = make_engine("fused", problem, case.genome)
        objective = Budgeted(engine, time.perf_counter, work=Work.of(problem, case.genome))
        optimizer = LM()
        state = optimizer.init(objective, initial_parameters(engine.layout, 0, torch.float64))
        state = optimizer.step(objective, state)  # the first step makes its model itself
        times: dict[str, list[float]] = {}
        evaluations: list[int] = []

        def timed(name: str, action: Callable[[], Any]) -> Any:
            began = time.perf_counter()
            result = action()
            times.setdefault(name, []).append(time.perf_counter() - began)
            return result

        for _ in range(rounds):
            theta = state.theta
            residuals, jacobian = timed("jacobian", lambda at=theta: engine.residuals_and_jacobian(at))
            timed("product", lambda j=jacobian: j.T @ j)
            timed("gram", lambda j=jacobian: lower_gram(j))
            model = Dense(residuals, jacobian, lambda diagonal: diagonal)
            timed("factor", lambda of=model: of.damped(1.0))
            timed("residuals", lambda at=theta: engine.residuals(at))
            used = objective.used
            state = timed("step", lambda at=state: optimizer.step(objective, at))
            evaluations.append(objective.used - used)
        medians = {name: statistics.median(each) for name, each in times.items()}
        # A trial takes two evaluations of the residuals, a step one Jacobian.
        trials = (statistics.median(evaluations) - 1) / 2
        return {"parameters": len(state.theta), "rows": len(state.residuals), "trials": trials, **medians}
