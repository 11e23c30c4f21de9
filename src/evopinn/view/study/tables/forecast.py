"""What a study will take, before it is begun."""

from evopinn.study.course import Forecast
from evopinn.view.numbers import duration
from evopinn.view.study.sheets import Column, Sheet

PAPER_TIME = (
    "On the paper's hardware, four Tesla V100, one search by evolution with DPSTE took from a few hours to "
    "more than 10; no other times are published."
)

_COLUMNS = (
    Column("part"),
    Column("optimizer", gives_way=True),
    Column("trainings", "number"),
    Column("epochs", "number"),
    Column("time here", "number"),
)


def forecast_table(forecast: Forecast) -> Sheet:
    """A row for each part of a study with its trainings, epochs and time; the total; the paper's time."""
    rows = [
        [load.title, load.optimizer, f"{load.trainings:,}", f"{load.epochs:,}", f"about {duration(seconds)}"]
        for load, seconds in zip(forecast.loads, forecast.seconds, strict=True)
    ]
    total = [
        "all",
        "",
        f"{sum(load.trainings for load in forecast.loads):,}",
        f"{sum(load.epochs for load in forecast.loads):,}",
        f"about {duration(sum(forecast.seconds))}",
    ]
    return Sheet("What there is to do", _COLUMNS, [*rows, total], (PAPER_TIME,))
