"""The cost of an optimiser's step beside its evaluations: L-BFGS and Levenberg-Marquardt."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from evopinn.engine import EvaluationPlan, make_engine
from evopinn.lab.bench.cases import Case
from evopinn.network import initial_theta
from evopinn.training import LBFGS, LM, Cholesky, Work
from evopinn.training.limits import Budgeted
from evopinn.training.linearised import Dense, lower_gram


class TimedLBFGS:
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


class TimedLM:
    """Levenberg-Marquardt on a case; made for `Isolated`."""

    def parts(self, case: Case, rounds: int) -> dict[str, Any]:
        """Medians of a step and its parts, in seconds, taken in turn while a training goes on.

        Args:
            case: The problem and network.
            rounds: How many steps are timed.
        """
        problem = case.statement()
        engine = make_engine("fused", problem, case.genome)
        size = EvaluationPlan.of(problem.terms(), case.genome.structure.neurons).size
        work = Work.of(case.genome, size)
        objective = Budgeted(engine, time.perf_counter, work=work)
        optimizer, columns = LM(), Cholesky().columns
        state = optimizer.init(objective, initial_theta(case.genome, problem, 0))
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
            timed("gram", lambda j=jacobian: lower_gram(j, columns))
            model = Dense(residuals, jacobian, lambda diagonal: diagonal, columns)
            timed("factor", lambda of=model: of.damped(1.0))
            timed("residuals", lambda at=theta: engine.residuals(at))
            used = objective.used
            state = timed("step", lambda at=state: optimizer.step(objective, at))
            evaluations.append(objective.used - used)
        medians = {name: statistics.median(each) for name, each in times.items()}
        # A trial takes two evaluations of the residuals, a step one Jacobian.
        trials = (statistics.median(evaluations) - 1) / 2
        return {"parameters": len(state.theta), "rows": len(state.residuals), "trials": trials, **medians}
