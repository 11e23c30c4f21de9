"""The engine on a device that has shapes and no numbers: whatever is read back to the host raises there."""

import pytest
import torch

from evopinn.catalogue import find_problem
from evopinn.engine import TaylorEngine, plan
from evopinn.genome import Genome

GENOME = Genome.parse("layers=3 neurons=5 shortcuts=0-2 activation=tanh(x)-a*sin(x)")


@pytest.fixture(params=["klein-gordon", "burgers", "lame", "heat-3d"])
def engine(request, monkeypatch):
    # Which terms share their points is found out once, from numbers; here each has its own.
    monkeypatch.setattr(plan, "_same_sides", lambda first, second: False)
    return TaylorEngine(find_problem(request.param), GENOME, torch.float64, "meta")


def test_residuals_stay_on_the_device(engine):
    residuals = engine.residuals(torch.zeros(engine.layout.size, dtype=torch.float64, device="meta"))
    assert residuals.device.type == "meta"
    assert residuals.shape == (engine.plan.residuals,)


def test_loss_and_gradient_stay_on_the_device(engine):
    theta = torch.zeros(engine.layout.size, dtype=torch.float64, device="meta")
    loss, gradient = engine.loss_and_gradient(theta)
    assert loss.device.type == gradient.device.type == "meta"
    assert (loss.shape, gradient.shape) == ((), theta.shape)
