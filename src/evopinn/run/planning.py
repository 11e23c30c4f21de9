"""What a run will do: from its configuration alone, or from a budget of time and how fast it was measured."""

from evopinn.run.config import DEFAULT_BUDGET, Config
from evopinn.run.speed import Amount, Pace, parse_budget
from evopinn.searchers import Budget, Plan, planned
from evopinn.training import spends_by_cost


def known_plan(config: Config, workers: int) -> Plan | None:
    """The plan, if nothing has to be measured for it; None for a budget of time.

    Args:
        config: What to do. That of a run has a schedule, and knows how fast it was if it was measured.
        workers: How many there are.
    """
    layout, settings = config.layout(), config.method_settings()
    if layout is None:
        amount = _amount(config)
        return None if amount.unit == "seconds" else planned(amount.budget(), config.method, settings)
    workload = config.find_method().workload(layout, settings)
    recorded = config.recorded
    budget = Budget(
        epochs=workload.epochs,
        seconds_per_epoch=recorded.seconds_per_epoch if recorded else None,
        seconds_per_training=(recorded.seconds_per_training if recorded else None) or 0.0,
        workers=workers,
        even=_is_even(config),
    )
    return Plan(config.method, layout, settings, workload, budget)


def measured_plan(config: Config, pace: Pace, workers: int, spent: float) -> Plan:
    """The plan for a budget of time.

    Args:
        config: What to do.
        pace: How fast trainings are.
        workers: How many there are.
        spent: Seconds of the budget that are gone.
    """
    budget = Budget(
        seconds=_amount(config).value,
        spent=spent,
        seconds_per_epoch=pace.seconds_per_epoch,
        seconds_per_training=pace.seconds_per_training,
        workers=workers,
        even=_is_even(config),
    )
    return planned(budget, config.method, config.method_settings())


def _is_even(config: Config) -> bool:
    return spends_by_cost(config.training_options().optimizer)


def _amount(config: Config) -> Amount:
    return parse_budget(DEFAULT_BUDGET if config.budget is None else config.budget)
