"""The configuration of a run, as a TOML file that a person can read, change and run again."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast, get_args, get_type_hints

import tomli_w
from pydantic import Field, create_model

from evopinn.checks import MAX_COUNT, MAX_SEED
from evopinn.errors import RunError, SearchError
from evopinn.genome import MutationRates, Space
from evopinn.search import DEFAULT_METHOD, WORKPLANS, AnyMethod, Settings, Workplan, find_method, find_preset
from evopinn.search.means import Mean
from evopinn.store.directory import CONFIG
from evopinn.store.toml_tables import Strict, validated
from evopinn.store.toml_text import file_text, toml_data
from evopinn.training import PAPER_OPTIMIZER, TrainingOptions, as_genome, spends_by_cost

DEFAULT_BUDGET = "10m"
LOCAL = "local"
"""The address that means no cluster."""

SMALL = Space(min_layers=4, max_layers=6, neurons=(10, 16, 2))
"""Networks for which a step of second order is cheap: of 250 to 1,200 parameters."""

AMOUNTS = ("budget", "preset", *(kind.table for kind in WORKPLANS))
"""The entries that set the amount of work; at most one is given."""


class TrainingTable(Strict):
    """How every genome is trained, and which genomes are skipped.

    Attributes:
        optimizer: By default that of the paper for its preset, otherwise Levenberg-Marquardt.
        coarseness: Factor by which each axis has fewer points in all trainings.
        slowest: A genome whose epoch is predicted to cost more than so many typical ones is not trained.
    """

    optimizer: str | None = None
    precision: str = TrainingOptions.precision
    engine: str = TrainingOptions.engine
    errors_every: int = Field(default=TrainingOptions.errors_every, ge=1, le=MAX_COUNT)
    coarseness: float = Field(default=TrainingOptions.coarseness, ge=1, le=MAX_COUNT)
    slowest: float = Field(default=4.0, gt=0)


class WorkersTable(Strict):
    """Worker processes; no entry changes the results of a run.

    Attributes:
        count: Number of workers; by default one per core.
        memory: Memory limit of each in megabytes; not a share of the machine's, so that it is the same
            everywhere.
        deadline: Seconds after which a training is killed; by default twenty times the time expected from
            earlier ones.
        cluster: Address of a Ray cluster on which they run, `host:port` or `auto`; `local` for none.
        cpus: CPUs of each on the cluster; by default 1.
        gpus: GPUs of each on the cluster; by default none. Four workers with 0.25 share one.
    """

    count: int | None = Field(default=None, ge=1)
    memory: int = Field(default=4096, ge=100)
    deadline: float | None = Field(default=None, gt=0)
    cluster: str | None = None
    cpus: float | None = Field(default=None, gt=0, le=1024)
    gpus: float | None = Field(default=None, gt=0, le=1024)


class RecordedTable(Strict):
    """Facts known when the run started; written by evopinn, never given by users.

    Attributes:
        fingerprint: Of the problem.
        request: A digest of the request, before planning.
        problem: The problem's name.
        scales: Its scales, as `Scales.to_json` gives them; none if it has none.
        plan: The plan in words.
        budget: The budget from which the schedule was planned.
        seconds_per_epoch: As measured.
        seconds_per_training: As measured, in addition to its epochs.
        warnings: The warnings given before the first training, if any.
    """

    fingerprint: float
    request: str
    problem: str | None = None
    scales: dict[str, list[list[float]]] | None = None
    plan: str | None = None
    budget: str | None = None
    seconds_per_epoch: float | None = None
    seconds_per_training: float | None = None
    warnings: list[str] | None = None


class _Request(Strict):
    """The scalar entries of a configuration: the problem, the method and the amount of work."""

    problem: str
    method: str = DEFAULT_METHOD
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    space: str = ""
    budget: str | None = None
    preset: str | None = None


@cache
def _workplan_table(kind: type[Workplan]) -> type[Strict]:
    """The table of a kind of workplan, whose entries have the types of its fields."""
    kinds = get_type_hints(kind)
    entries: dict[str, Any] = {}
    for row in fields(kind):
        of = get_args(kinds[row.name])  # TOML has lists in the place of tuples
        entries[row.name] = (list[of[0]] if of else kinds[row.name], ...)
    return create_model(f"{kind.__name__}Table", __base__=Strict, **entries)


if TYPE_CHECKING:
    _WithWorkplans = _Request
else:
    _WithWorkplans = create_model(
        "_WithWorkplans",
        __base__=_Request,
        **{kind.table: (_workplan_table(kind) | None, None) for kind in WORKPLANS},
    )


class Config(_WithWorkplans):
    """The configuration of a run.

    One of `budget`, `preset` and the tables of workplans (`schedule`, `trials`, `roster`) sets the amount of
    work; ten minutes by default.
    """

    unasked: ClassVar[frozenset[str]] = frozenset({"recorded"})

    settings: dict[str, Any] = Field(default_factory=dict[str, Any])
    training: TrainingTable = TrainingTable()
    workers: WorkersTable = WorkersTable()
    recorded: RecordedTable | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any], origin: str = "the configuration") -> "Config":
        """A configuration from plain data; `SearchError` names the first fault."""
        config = validated(cls, values, origin)
        config.check()
        return config

    def check(self) -> None:
        """Refuse contradictions and invalid values."""
        amounts = [name for name in AMOUNTS if getattr(self, name) is not None]
        if len(amounts) > 1:
            raise SearchError(f"{' and '.join(amounts)} are both given; give only one of them.")
        method = self.find_method()
        needed = method.workplan
        for other in WORKPLANS:
            if other is not needed and other.table in amounts:
                budget = ", or a budget" if method.takes_budget else ""
                raise SearchError(f"{self.method} has no {other.table}; give it {needed.wanted}{budget}.")
        if not method.takes_budget and needed.table not in amounts:
            raise SearchError(f"{self.method} searches nothing by itself; give it {needed.wanted}.")
        self.method_settings()
        self.search_space()
        self.workplan()
        _check_demand(self.workers)
        if self.workers.gpus is not None and self.training.engine == "fused":
            raise SearchError(
                f"training.engine is fused, which is for CPUs, and workers.gpus is {self.workers.gpus:g}; "
                "give the engine taylor or auto, or no GPUs."
            )

    def find_method(self) -> AnyMethod:
        """The method."""
        return find_method(self.method)

    def method_settings(self) -> Settings:
        """The method's settings, with defaults for those that are not given."""
        return self.find_method().settings(**(self._default_settings() | self.settings))

    def _default_settings(self) -> dict[str, Any]:
        """Defaults that differ from the paper's: none for its presets and for runs that have started."""
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
            space = Space.parse(self.space)
            if self._as_the_paper and space.starts != Space().starts:
                raise SearchError(
                    f"the space has starts={','.join(space.starts)}, but the preset {self.preset} has the "
                    "paper's start only; leave the starts out, or give a schedule or a budget."
                )
            return space
        return SMALL if spends_by_cost(self.training_options().optimizer) else Space()

    def workplan(self) -> Workplan | None:
        """The workplan, if it is known; None if it must be planned from a budget."""
        for kind in WORKPLANS:
            table: Strict | None = getattr(self, kind.table)
            if table is not None:
                workplan = kind.of(table.model_dump())
                return workplan.with_genomes(lambda text: as_genome(text, self.problem).text)
        if self.preset is not None:
            return self.find_method().of_preset(find_preset(self.preset, self.problem))
        return None

    def with_workers(self, changes: Mapping[str, Any]) -> "Config":
        """The same with some entries of its workers changed, to resume a run.

        If they move to another cluster or back to this machine, drop the old numbers.
        """
        values, before = self.model_dump(exclude_none=True), self.workers
        moved = "cluster" in changes and changes["cluster"] != before.cluster
        kept = before.model_dump(exclude_none=True, exclude={"count", "cpus", "gpus"} if moved else None)
        return Config.of(values | {"workers": kept | dict(changes)}, "the command")

    def spelled_out(self) -> "Config":
        """The same with all settings by name, and a preset's numbers."""
        settings = asdict(cast(Any, self.method_settings()))
        fixed = self.find_method().fixed
        given = {name: value for name, value in settings.items() if name not in fixed and value is not None}
        space = self.search_space()
        rates: dict[str, float] | None = given.get("mutation")
        if rates and not space.varies_start and rates["start"] == MutationRates.start:
            del rates["start"]  # it has no effect, and older runs do not have it
        training = self.training.model_copy(update={"optimizer": self.training_options().optimizer})
        config = self.model_copy(update={"settings": given, "space": space.text, "training": training})
        workplan = self.workplan()
        return config if workplan is None else config._with_workplan(workplan)

    def settled(self, workplan: Workplan, recorded: RecordedTable) -> "Config":
        """The same with all settings by name, a planned workplan and the recorded facts."""
        return self.spelled_out()._with_workplan(workplan).model_copy(update={"recorded": recorded})

    def _with_workplan(self, workplan: Workplan) -> "Config":
        tables = {kind.table: _workplan_table(kind) for kind in WORKPLANS}
        entry = {name: tables[name](**table) for name, table in workplan.entry().items()}
        return self.model_copy(update={**dict.fromkeys(AMOUNTS), **entry})

    def toml(self) -> str:
        """The configuration as a file."""
        return _HEADER + tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))


_HEADER = """\
# The configuration of a run; `evopinn search --config FILE` repeats it, with any changes that you make here.
# In the directory of a run this is a record: the run itself always resumes with its original configuration.
"""


def parse_config(text: str, origin: str) -> dict[str, Any]:
    """The plain data of a TOML text."""
    try:
        return toml_data(text)
    except ValueError as error:
        raise SearchError(f"{origin} is not TOML: {error}.") from None


def usual_mean(optimizer: str) -> Mean:
    """The mean that ranks final losses by default.

    With a second-order optimiser they differ by orders of magnitude, so it is the geometric mean.
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
    """Refuse to resume a run whose configuration file has changed: the change would have no effect.

    Args:
        directory: The run's.
        recorded: The configuration with which it started, as TOML. Comments and layout may differ, and the
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
            f"{path} has changed since the run started, but a run must resume with its original "
            "configuration; restore it or remove it, or start another run: "
            f"`evopinn search --config {shlex.quote(str(path))}`."
        )


def _check_demand(table: WorkersTable) -> None:
    for name, amount in {"cpus": table.cpus, "gpus": table.gpus}.items():
        if amount is not None and amount > 1 and amount != int(amount):
            raise SearchError(f"workers.{name} is {amount:g}; give a whole number, or a share below 1.")
        if amount is not None and table.cluster in (None, LOCAL):
            given = "not given" if table.cluster is None else f"{LOCAL}, which means none"
            raise SearchError(
                f"workers.{name} is for a cluster, and workers.cluster is {given}; give its address."
            )
