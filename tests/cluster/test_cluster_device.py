"""The engine on a device that has shapes and no numbers: whatever is read back to the host raises there."""

import pytest
import torch

from evopinn.engine import TaylorEngine, plan, taylor
from evopinn.genome import Genome
from evopinn.problems import find_problem

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


def test_of_loss_and_gradient_only_the_loss_is_read_back_once(engine, monkeypatch):
    read = []
    monkeypatch.setattr(taylor, "float", lambda tensor: read.append(tensor.shape) or 0.0, raising=False)
    theta = torch.zeros(engine.layout.size, dtype=torch.float64, device="meta")
    _, gradient = engine.loss_and_gradient(theta)
    assert gradient.device.type == "meta"
    assert gradient.shape == theta.shape
    assert read == [()]
