"""The runs that a study consists of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evopinn.run.config import Config
from evopinn.searchers import LISTED, Layout, Roster, Schedule
from evopinn.study.design import Design

_LOOKS = 50
"""How often errors are measured in a training: enough for the figure of its course."""


@dataclass(frozen=True)
class Part:
    """A run of a study.

    Attributes:
        name: Its directory, below that of the study.
        title: What it is, for a person.
        config: What it does.
    """

    name: str
    title: str
    config: Config


@dataclass(frozen=True)
class Load:
    """What a part will do, told before it is known which networks it will train.

    Attributes:
        title: What it is, for a person.
        problem: Whose points decide how long an epoch takes.
        optimizer: That trains.
        trainings: How many.
        epochs: Of all of them.
        genomes: What is trained, as far as that is known.
    """

    title: str
    problem: str
    optimizer: str
    trainings: int
    epochs: int
    genomes: tuple[str, ...] = ()


def trainings_part(
    design: Design, name: str, title: str, problem: str, genomes: Iterable[str], optimizer: str = ""
) -> Part:
    """Trainings from scratch of some genomes on a problem; what is given twice is trained once.

    Args:
        design: The study's, settled.
        name: Of the part.
        title: Of the part.
        problem: By its full name.
        genomes: As text.
        optimizer: If it is another than that of the study.
    """
    assert design.epochs is not None
    roster = Roster(tuple(dict.fromkeys(genomes)), design.epochs)
    table = {"genomes": list(roster.genomes), "epochs": roster.epochs}
    settings = {"evaluations": design.trials}
    return Part(
        name,
        title,
        _config(design, problem, LISTED.name, {"roster": table}, design.seed, optimizer, settings),
    )


def search_part(
    design: Design, name: str, title: str, method: str, layout: Layout, seed: int, optimizer: str, space: str
) -> Part:
    """A search by a method."""
    if isinstance(layout, Schedule):
        table = {"schedule": {"populations": list(layout.populations), "epochs": list(layout.epochs)}}
    else:
        assert not isinstance(layout, Roster)
        table = {"trials": {"evaluations": layout.evaluations, "epochs": layout.epochs}}
    return Part(
        name, title, _config(design, design.problem, method, {"space": space, **table}, seed, optimizer)
    )


def trainings_load(design: Design, title: str, problem: str, genomes: Iterable[str], count: int = 0) -> Load:
    """What `trainings_part` will do with some genomes, or with so many that are not known yet."""
    assert design.epochs is not None
    assert design.trials is not None
    known = tuple(dict.fromkeys(genomes))
    trainings = (len(known) or count) * design.trials
    return Load(title, problem, design.optimizer, trainings, trainings * design.epochs, known)


def _config(
    design: Design,
    problem: str,
    method: str,
    amount: Mapping[str, Any],
    seed: int,
    optimizer: str,
    settings: Mapping[str, Any] | None = None,
) -> Config:
    training: dict[str, Any] = {
        "optimizer": optimizer or design.optimizer,
        "engine": design.engine,
        "coarseness": float(design.coarseness or 1),
    }
    if method == LISTED.name:
        training["errors_every"] = max(1, (design.epochs or 1) // _LOOKS)
    return Config.of(
        {
            "problem": problem,
            "method": method,
            "seed": seed,
            **amount,
            "settings": dict(settings or {}),
            "training": training,
            "workers": design.workers.model_dump(exclude_none=True),
        }
    )
