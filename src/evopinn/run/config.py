"""What a run is to do, as a file that a person can read, change and run again."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar, cast

import tomli_w
from pydantic import Field

from evopinn.checks import MOST, MOST_SEED, shown
from evopinn.errors import RunError, SearchError, UnknownNameError
from evopinn.genome import MutationRates, Space
from evopinn.means import Mean
from evopinn.run.cluster.site import LOCAL
from evopinn.run.evaluation import TrainingOptions
from evopinn.run.place import CONFIG
from evopinn.run.strict import Strict, validated
from evopinn.run.toml_text import file_text, toml_data
from evopinn.searchers import Layout, Method, Roster, Schedule, Trials, find_method, find_preset
from evopinn.searchers.checking import share
from evopinn.searchers.methods import Settings
from evopinn.searchers.schedule import LayoutKind
from evopinn.training import as_genome, spends_by_cost

DEFAULT_BUDGET = "10m"
PAPER_OPTIMIZER = "lbfgs"
SMALL = Space(min_layers=4, max_layers=6, neurons=(10, 16, 2))
"""Networks for which a step of second order is cheap: of 250 to 1,200 parameters."""

AMOUNTS = ("budget", "preset", "schedule", "trials", "roster")
"""The entries that say how much to do, of which there is one at most."""


class ScheduleTable(Strict):
    """Populations and epochs by generation."""

    populations: list[int]
    epochs: list[int]


class TrialsTable(Strict):
    """Evaluations of Bayesian optimisation, and the epochs of each."""

    evaluations: int
    epochs: int


class RosterTable(Strict):
    """Genomes, or published models such as paper:evo-dpste-1, and the epochs that each is trained for."""

    genomes: list[str]
    epochs: int


class TrainingTable(Strict):
    """How every genome is trained, and when it is given up.

    Attributes:
        optimizer: By default that of the paper for its preset, otherwise Levenberg-Marquardt.
        coarseness: Factor by which each axis has fewer points in all trainings.
        slowest: A genome whose epoch is predicted to cost more than so many typical ones is not trained.
    """

    optimizer: str | None = None
    precision: str = TrainingOptions.precision
    engine: str = TrainingOptions.engine
    errors_every: int = Field(default=TrainingOptions.errors_every, ge=1, le=MOST)
    coarseness: float = Field(default=TrainingOptions.coarseness, ge=1, le=MOST)
    slowest: float = Field(default=4.0, gt=0)


class WorkersTable(Strict):
    """Worker processes; none of it changes what a run finds.

    Attributes:
        count: How many; one a core if not given.
        memory: Of each, in megabytes: no share of the machine's, so that it is the same everywhere.
        deadline: Seconds after which an evaluation is taken for hung; by default twenty times what the ones
            before it make likely.
        cluster: Address of a Ray cluster on which they run, `host:port` or `auto`; `local` for none.
        cpus: That each takes there; 1 if not given.
        gpus: That each takes there; none if not given. Four workers with 0.25 share one.
    """

    count: int | None = Field(default=None, ge=1)
    memory: int = Field(default=4096, ge=100)
    deadline: float | None = Field(default=None, gt=0)
    cluster: str | None = None
    cpus: float | None = Field(default=None, gt=0, le=1024)
    gpus: float | None = Field(default=None, gt=0, le=1024)


class RecordedTable(Strict):
    """What was known when the run began; written, never asked for.

    Attributes:
        fingerprint: Of the problem.
        request: Stands for what was asked, before anything was planned.
        problem: The problem's name.
        plan: What will be done, in words.
        budget: What the schedule was planned from.
        seconds_per_epoch: As measured.
        seconds_per_training: As measured, beside its epochs.
    """

    fingerprint: float
    request: str
    problem: str | None = None
    plan: str | None = None
    budget: str | None = None
    seconds_per_epoch: float | None = None
    seconds_per_training: float | None = None


class Config(Strict):
    """What a run is to do.

    One of `budget`, `preset`, `schedule`, `trials` and `roster` says how much; ten minutes if none is given.
    """

    unasked: ClassVar[frozenset[str]] = frozenset({"recorded"})

    problem: str
    method: str = "evo-dpste"
    seed: int = Field(default=0, ge=0, le=MOST_SEED)
    space: str = ""
    budget: str | None = None
    preset: str | None = None
    schedule: ScheduleTable | None = None
    trials: TrialsTable | None = None
    roster: RosterTable | None = None
    settings: dict[str, Any] = Field(default_factory=dict[str, Any])
    training: TrainingTable = TrainingTable()
    workers: WorkersTable = WorkersTable()
    recorded: RecordedTable | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any], origin: str = "the configuration") -> "Config":
        """A configuration from plain data; what is wrong with it is told in a sentence."""
        config = validated(cls, values, origin)
        config.check()
        return config

    def check(self) -> None:
        """Refuse what contradicts itself or is in no table."""
        amounts = [name for name in AMOUNTS if getattr(self, name) is not None]
        if len(amounts) > 1:
            raise SearchError(f"{' and '.join(amounts)} are both given; one of them says how much to do.")
        needed = _TABLE_OF[self.find_method().layout]
        listed = needed == "roster"
        for other in _GIVEN_AS:
            if other != needed and getattr(self, other) is not None:
                budget = "" if listed else ", or a budget"
                raise SearchError(f"{self.method} has no {other}; give it {_GIVEN_AS[needed]}{budget}.")
        if listed and self.roster is None:
            raise SearchError(f"{self.method} searches nothing by itself; give it {_GIVEN_AS[needed]}.")
        self.method_settings()
        self.search_space()
        self.layout()
        _check_demand(self.workers)
        if self.workers.gpus is not None and self.training.engine == "fused":
            raise SearchError(
                f"training.engine is fused, which is for CPUs, and workers.gpus is {self.workers.gpus:g}; "
                "give the engine taylor or auto, or no GPUs."
            )

    def find_method(self) -> Method:
        """The method."""
        return find_method(self.method)

    def method_settings(self) -> Settings:
        """The method's settings, those that are not given by default."""
        method, given = self.find_method(), self._default_settings() | self.settings
        if "mutation" in given:
            given["mutation"] = _mutation_rates(given["mutation"])
        return method.settings(**given)

    def _default_settings(self) -> dict[str, Any]:
        """Defaults that are not the paper's: none for its presets, nor for runs that began before."""
        if self._as_the_paper or self.recorded is not None:
            return {}
        return {"mean": usual_mean(self.training_options().optimizer)}

    @property
    def _as_the_paper(self) -> bool:
        """Whether it is one of the paper's presets, such as `paper` or `paper:lame`."""
        return self.preset is not None and self.preset.partition(":")[0] == "paper"

    def training_options(self) -> TrainingOptions:
        """How workers train."""
        table = self.training
        default = PAPER_OPTIMIZER if self._as_the_paper else TrainingOptions.optimizer
        optimizer = default if table.optimizer is None else table.optimizer
        return TrainingOptions(
            optimizer, table.precision, table.engine, table.errors_every, coarseness=table.coarseness
        )

    def search_space(self) -> Space:
        """The search space: the paper's, or for a method of second order one of smaller networks."""
        if self.space:
            return Space.parse(self.space)
        return SMALL if spends_by_cost(self.training_options().optimizer) else Space()

    def layout(self) -> Layout | None:
        """The schedule or trials, if they are settled; None if they have to be planned from a budget."""
        if self.schedule is not None:
            return Schedule(tuple(self.schedule.populations), tuple(self.schedule.epochs))
        if self.trials is not None:
            return Trials(self.trials.evaluations, self.trials.epochs)
        if self.roster is not None:
            genomes = (as_genome(text, self.problem).text for text in self.roster.genomes)
            return Roster(tuple(genomes), self.roster.epochs)
        if self.preset is not None:
            return find_preset(self.preset, self.problem).layout(self.find_method().layout)
        return None

    def spelled_out(self) -> "Config":
        """The same with all settings by name, and a preset's numbers."""
        settings = asdict(self.method_settings())
        fixed = self.find_method().fixed
        given = {name: value for name, value in settings.items() if name not in fixed and value is not None}
        training = self.training.model_copy(update={"optimizer": self.training_options().optimizer})
        config = self.model_copy(
            update={"settings": given, "space": self.search_space().text, "training": training}
        )
        layout = self.layout()
        return config if layout is None else config._with_layout(layout)

    def settled(self, layout: Layout, recorded: RecordedTable) -> "Config":
        """The same with everything said, and with what was planned."""
        return self.spelled_out()._with_layout(layout).model_copy(update={"recorded": recorded})

    def _with_layout(self, layout: Layout) -> "Config":
        tables: dict[str, Any] = dict.fromkeys(AMOUNTS)
        match layout:
            case Schedule(populations, epochs):
                tables["schedule"] = ScheduleTable(populations=list(populations), epochs=list(epochs))
            case Trials(evaluations, epochs):
                tables["trials"] = TrialsTable(evaluations=evaluations, epochs=epochs)
            case Roster(genomes, epochs):
                tables["roster"] = RosterTable(genomes=list(genomes), epochs=epochs)
        return self.model_copy(update=tables)

    def toml(self) -> str:
        """The configuration as a file."""
        return _HEADER + tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))


_GIVEN_AS = {
    "schedule": "populations and epochs",
    "trials": "a number of trials and their epochs",
    "roster": "a table [roster] of genomes and epochs",
}
_TABLE_OF: Mapping[LayoutKind, str] = {
    "dpste": "schedule",
    "constant": "schedule",
    "trials": "trials",
    "roster": "roster",
}
_HEADER = """\
# What a run does; `evopinn search --config FILE` does it again, with changes if there are any.
# In the directory of a run this is a record: the run itself goes on as it was begun.
"""


def parse_config(text: str, origin: str) -> dict[str, Any]:
    """The plain data of a TOML text."""
    try:
        return toml_data(text)
    except ValueError as error:
        raise SearchError(f"{origin} is not TOML: {error}.") from None


def usual_mean(optimizer: str) -> Mean:
    """Which mean of its final losses decides how good a network is.

    With a method of second order they differ by orders of magnitude, so that the mean of logarithms does.
    """
    return "geometric" if spends_by_cost(optimizer) else "arithmetic"


def read_config(path: Path) -> dict[str, Any]:
    """The plain data of a configuration file; what a run recorded about itself is left out."""
    try:
        text = file_text(path)
    except (OSError, ValueError) as error:  # also for a name that no file can have
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise SearchError(f"the configuration {path} cannot be read: {reason}.") from None
    values = parse_config(text, str(path))
    settings = values.setdefault("settings", {}) if values.pop("recorded", None) is not None else None
    if isinstance(settings, dict):  # a run from before there was a choice of means had the arithmetic one
        cast("dict[str, Any]", settings).setdefault("mean", "arithmetic")
    return values


def check_config_unchanged(directory: Path, recorded: str) -> None:
    """Refuse to go on with a run whose file says something else now, which would have no effect.

    Args:
        directory: The run's.
        recorded: The configuration that it was begun with, as TOML. Comments and layout may differ, and the
            file may be missing.
    """
    path = directory / CONFIG
    try:
        unchanged = toml_data(file_text(path)) == toml_data(recorded)
    except FileNotFoundError:
        return
    except (OSError, ValueError):  # what cannot be read or is not TOML is not what was written
        unchanged = False
    if not unchanged:
        raise RunError(
            f"{path} was changed since the run began, but a run goes on as it was begun; put it back or "
            f"remove it, or begin another run: `evopinn search --config {shlex.quote(str(path))}`."
        )


def _mutation_rates(rates: object) -> MutationRates:
    known = [row.name for row in fields(MutationRates)]
    if not isinstance(rates, Mapping):
        parts = ", ".join(known)
        raise SearchError(f"mutation is {shown(rates)}; it has the parts {parts}, each a probability.")
    given = cast(Mapping[str, Any], rates)
    for name, rate in given.items():
        if name not in known:
            raise UnknownNameError("part of mutation", name, known, f"There are {', '.join(known)}.")
        share(f"mutation.{name}", rate)
    return MutationRates(**given)


def _check_demand(table: WorkersTable) -> None:
    for name, amount in {"cpus": table.cpus, "gpus": table.gpus}.items():
        if amount is not None and amount > 1 and amount != int(amount):
            raise SearchError(f"workers.{name} is {amount:g}; give a whole number, or a share below 1.")
        if amount is not None and table.cluster in (None, LOCAL):
            given = "not given" if table.cluster is None else f"{LOCAL}, which is none"
            raise SearchError(f"workers.{name} is for a cluster, and workers.cluster is {given}; give one.")
