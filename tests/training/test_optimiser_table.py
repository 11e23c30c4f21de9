"""What every row of the table of optimisers promises."""

import pytest
import torch
from sums_of_squares import SumOfSquares

from evopinn.errors import TrainingError
from evopinn.training import OPTIMISERS, Chain, ChainStage, State, Work, find_optimiser, spends_by_cost
from evopinn.training.optimiser_table import Needs

BOWL = SumOfSquares(lambda theta: 3 * (theta - 1), Work(gradient=0.25, entry=1e-3, product=1e-6))
THETA = torch.zeros(3, dtype=torch.float64)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_row_and_its_class_know_each_other(name):
    kind = OPTIMISERS[name]
    assert kind.load().kind is kind
    assert type(find_optimiser(name)) is kind.load()
    assert kind.load().__name__.lower() == name == kind.name


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_step_counts_as_an_epoch_unless_the_row_says_that_it_counts_by_cost(name):
    optimizer = find_optimiser(name)
    state = optimizer.step(BOWL, optimizer.init(BOWL, THETA))
    assert state.cost > 0
    assert (state.cost != 1.0) == OPTIMISERS[name].spends_by_cost == spends_by_cost(name)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_in_a_chain_every_step_counts_by_its_cost(name):
    alone, chain = find_optimiser(name), find_optimiser(f"{name}:9")
    assert spends_by_cost(f"{name}:9")
    step = chain.step(BOWL, chain.init(BOWL, THETA))
    itself = alone.step(BOWL, alone.init(BOWL, THETA))
    assert step.cost == (itself.cost if OPTIMISERS[name].spends_by_cost else BOWL.work.gradient)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_loss_and_its_gradient_are_enough_or_are_refused_by_name(name):
    optimizer, objective = find_optimiser(name), BOWL.loss_and_gradient
    if OPTIMISERS[name].needs is Needs.LEAST_SQUARES:
        with pytest.raises(TrainingError, match=f"^{name} .*residuals"):
            optimizer.init(objective, THETA)
    else:
        state = optimizer.step(objective, optimizer.init(objective, THETA))
        assert state.loss < objective(THETA)[0]


def test_an_optimiser_of_ones_own_counts_its_steps_as_evaluations_in_a_chain():
    class Descent:
        def init(self, objective, theta):
            return State(theta, *objective(theta))

        def step(self, objective, state):
            return self.init(objective, state.theta - 0.01 * state.gradient)

    chain = Chain("descent", (ChainStage(Descent()),))
    state = chain.step(BOWL, chain.init(BOWL, THETA))
    assert state.cost == BOWL.work.gradient
