"""The same network and losses in DeepXDE on torch.

A real `deepxde.Model`; what is timed is the closure that its training step gives the optimiser: losses, sum,
`zero_grad`, `backward`. DeepXDE evaluates the PDE on the points of the conditions too; so does this.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evopinn.genome import Genome
from evopinn.lab.bench.nested_autograd import PlainNetwork
from evopinn.lab.bench.peer_problems import ResidualTerm, equation
from evopinn.network import Layout
from evopinn.problem import Problem


class DeepXDEModel:
    """Loss and gradient by DeepXDE.

    DeepXDE has global settings, so that it is best used in a process of its own.

    Args:
        problem: One of the paper's three problems, case I.
        genome: Structure and activation.
        theta: The parameters.
    """

    def __init__(self, problem: Problem, genome: Genome, theta: Tensor) -> None:
        self.layout = Layout.of(genome, problem)
        self.network = PlainNetwork(genome, self.layout, theta)
        with _silence():
            self.model = _model(load_deepxde(), problem, self.network)

    def evaluate(self) -> float:
        """The loss; its gradient is left in the parameters."""
        state = self.model.train_state
        losses = self.model.outputs_losses_train(state.X_train, state.y_train, state.train_aux_vars)[1]
        total = torch.sum(losses)
        self.model.opt.zero_grad()
        torch.autograd.backward(total)
        return float(total.detach())

    def gradient(self) -> NDArray[np.float64]:
        """The gradient of the last evaluation."""
        return self.network.packed_gradient(self.layout)


def load_deepxde() -> Any:
    """DeepXDE on torch in double precision."""
    os.environ["DDE_BACKEND"] = "pytorch"  # it looks for a back end when it is imported
    with _silence():
        dde: Any = import_module("deepxde")
        dde.config.set_default_float("float64")
    return dde


@contextmanager
def _silence() -> Generator[None]:
    """It talks about its settings."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


def _model(dde: Any, problem: Problem, network: Any) -> Any:
    (inside, interior), *conditions = equation(problem)

    def components(part: ResidualTerm) -> Callable[[Any, Any], list[Any]]:
        def residuals(inputs: Any, outputs: Any) -> list[Any]:
            def derivative(field: int, *axes: int) -> Any:
                if len(axes) == 2:
                    return dde.grad.hessian(outputs, inputs, component=field, i=axes[0], j=axes[1])
                if len(axes) == 1:
                    return dde.grad.jacobian(outputs, inputs, i=field, j=axes[0])
                return outputs[:, field : field + 1]

            return part.residuals(torch, inputs.split(1, dim=1), derivative)

        return residuals

    def condition(part: ResidualTerm, points: Tensor, number: int) -> Any:
        residuals = components(part)

        def error(inputs: Any, outputs: Any, _: Any) -> Any:
            return residuals(inputs, outputs)[number]

        return dde.icbc.PointSetOperatorBC(points.numpy(), 0, error)

    each = [(part, points, number) for part, points in conditions for number in range(part.components)]
    data = dde.data.PDE(
        dde.geometry.PointCloud(interior.numpy()),
        components(inside),
        [condition(*one) for one in each],
        anchors=interior.numpy(),
    )
    network.regularizer = network.auxiliary_vars = None  # what its own networks have and its model looks for
    model = dde.Model(data, network)
    weights = [inside.weight] * inside.components + [part.weight for part, _, _ in each]
    model.compile("sgd", lr=0.0, loss_weights=weights)
    model.train_state.set_data_train(*data.train_next_batch())
    return model
