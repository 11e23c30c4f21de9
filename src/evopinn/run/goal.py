"""The goal of a recorded run, read leniently from its configuration for views."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast, get_origin

from evopinn.errors import ProblemError, RunError
from evopinn.problem.scales import UNSCALED, Scales
from evopinn.run.planned_rounds import PlannedRound, planned_rounds
from evopinn.store.toml_text import toml_data

T = TypeVar("T")


@dataclass(frozen=True)
class Goal:
    """The goal of a run; empty where its configuration has no entry.

    Attributes:
        problem: The problem's name; if that is not recorded, `source`.
        source: Where the problem comes from: a name of the catalogue, a file, or `python:` and the name of an
            object.
        method: The search method's name.
        seed: The seed of all random choices.
        plan: The plan in words.
        schedule: Population and epochs of each planned generation; empty for other ways to search.
        fingerprint: The fingerprint of the problem when the run started; None if not recorded.
        warnings: The warnings given before the first training.
        scales: The scales of the problem when the run started.
        config: The whole configuration as plain data.
    """

    problem: str
    source: str
    method: str
    seed: int | None
    plan: str
    schedule: tuple[tuple[int, int], ...] = ()
    fingerprint: float | None = None
    warnings: tuple[str, ...] = ()
    scales: Scales = UNSCALED
    config: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def rounds(self) -> tuple[PlannedRound, ...]:
        """The planned rounds: elitists that are trained again, and what comes after the generations."""
        return planned_rounds(self.config)

    @classmethod
    def of(cls, config: str, directory: Path) -> "Goal":
        """The goal of a configuration in TOML."""
        try:
            values = toml_data(config)
        except ValueError as error:
            raise RunError(f"the run {directory}: its configuration is not TOML ({error}).") from error
        try:
            recorded = _typed(values, "recorded", dict[str, Any]) or {}
            source = _typed(values, "problem", str) or ""
            method = _typed(values, "method", str) or ""
            schedule = _schedule(values.get("schedule"))
            return cls(
                problem=_typed(recorded, "problem", str) or source,
                source=source,
                method=method,
                seed=_typed(values, "seed", int),
                plan=_typed(recorded, "plan", str) or "",
                schedule=schedule,
                config=values,
                fingerprint=_typed(recorded, "fingerprint", float),
                warnings=tuple(map(str, _typed(recorded, "warnings", list[Any]) or ())),
                scales=_scales(recorded),
            )
        except (TypeError, ProblemError) as error:
            raise RunError(
                f"the run {directory}: its configuration is damaged ({error}); restore a copy of it."
            ) from error


def _typed(table: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    """The entry of a table, which must be of a kind; None if it is missing."""
    value = table.get(name)
    if value is not None and not isinstance(value, get_origin(kind) or kind):
        raise TypeError(f"{name} = {value!r}")
    return value


def _scales(recorded: Mapping[str, Any]) -> Scales:
    table = _typed(recorded, "scales", dict[str, Any])
    return UNSCALED if table is None else Scales.from_json(table)


def _schedule(table: Any) -> tuple[tuple[int, int], ...]:
    known: Mapping[str, Any] = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    return tuple(zip(_counts(known.get("populations")), _counts(known.get("epochs")), strict=False))


def _counts(values: Any) -> list[int]:
    listed: list[Any] = cast("list[Any]", values) if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, int)]
