"""Forecasts of the duration of a study, before it starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from evopinn.genome import Genome
from evopinn.lab.studies.design import Design
from evopinn.lab.studies.execution import Watched
from evopinn.lab.studies.study import Load, Study
from evopinn.run import session
from evopinn.run.budget_plan import Pace
from evopinn.run.config import Config
from evopinn.run.session import Observer
from evopinn.training import cost_of_epochs, typical_cost
from evopinn.view.numbers import duration
from evopinn.view.tables import Column, Table
from evopinn.workers.problem_source import ProblemSource

PAPER_TIME = (
    "On the paper's hardware, four Tesla V100, one search by evolution with DPSTE took from a few hours to "
    "more than 10; the paper gives no other times."
)

_COLUMNS = (
    Column("part", value=lambda row: row[0].title),
    Column("optimizer", value=lambda row: row[0].optimizer, gives_way=True),
    Column("trainings", "count", lambda row: row[0].trainings),
    Column("epochs", "count", lambda row: row[0].epochs),
    Column("time here", "number", lambda row: f"about {duration(row[1])}"),
)
"""The columns of a forecast, whose records are pairs of a load and its seconds."""


@dataclass(frozen=True)
class Forecast:
    """The expected duration of a study.

    Attributes:
        loads: The study's work, part by part.
        seconds: The expected time of each part.
    """

    loads: Sequence[Load]
    seconds: Sequence[float]

    @property
    def table(self) -> Table:
        """A row for each part with its trainings, epochs and time; the total; the paper's time."""
        trainings, epochs = (
            sum(getattr(load, name) for load in self.loads) for name in ("trainings", "epochs")
        )
        total = Load("all", "", "", trainings, epochs), sum(self.seconds)
        rows = [*zip(self.loads, self.seconds, strict=True), total]
        return Table("Planned work", _COLUMNS, rows, (PAPER_TIME,))


def forecast(study: Study[Any], watched: Watched) -> Forecast | None:
    """How long a study will take here, estimated from short trainings on each kind of work.

    Cases of a problem that have equally many points are assumed to be equally fast.

    Returns:
        The forecast; None if it was stopped.
    """
    paces: dict[tuple[tuple[int, ...], str, str], tuple[Pace, int]] = {}
    source = cache(ProblemSource.of)
    loads, seconds = study.loads(), list[float]()
    for load in loads:
        points = tuple(term.count for term in source(load.problem).problem.terms())
        key = (points, load.optimizer, load.space)
        if key not in paces:
            found = _pace(study.design, load, source(load.problem), watched)
            if found is None:
                return None
            paces[key] = found
        seconds.append(_seconds(load, *paces[key]))
    return Forecast(loads, seconds)


def _pace(design: Design, load: Load, source: ProblemSource, watched: Watched) -> tuple[Pace, int] | None:
    """The pace of such trainings, and the number of workers."""
    found: list[tuple[Pace, int]] = []
    config = Config.of(
        {
            "problem": load.problem,
            "space": load.space,
            "training": {
                "optimizer": load.optimizer,
                "engine": design.engine,
                "coarseness": float(design.coarseness or 1),
            },
            "workers": design.workers.model_dump(exclude_none=True),
        }
    )

    def time(observer: Observer) -> bool:
        pace = session.measure_pace(config, source, replace(observer, in_study=True))
        found.extend([] if pace is None else [pace])
        return pace is not None

    return found[0] if watched(time) else None


def _seconds(load: Load, pace: Pace, workers: int) -> float:
    """The time of a load; genomes that are not known yet count as typical ones."""
    cost = cost_of_epochs(load.optimizer)
    asked = {"problem": load.problem, "space": load.space, "training": {"optimizer": load.optimizer}}
    space = Config.of(asked).search_space()
    weights = [cost(Genome.parse(text)) for text in load.genomes]
    share = sum(weights) / len(weights) / typical_cost(space, cost) if weights else load.mean_cost
    each = pace.seconds_per_epoch * share * load.epochs + pace.seconds_per_training * load.trainings
    return each / min(workers, max(load.trainings, 1))
