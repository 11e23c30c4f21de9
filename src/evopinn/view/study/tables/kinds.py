"""The tables of a study, whichever it is."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evopinn.study.compare import ComparisonStudy
from evopinn.study.kinds import AnyStudy
from evopinn.study.reproduce import ReproductionStudy
from evopinn.study.sensitivity import SensitivityStudy
from evopinn.study.trials import Trial
from evopinn.view.study.sheets import Sheet
from evopinn.view.study.tables.comparison import (
    accounting_table,
    contrasts_table,
    discovery_tables,
    methods_table,
)
from evopinn.view.study.tables.reproduction import reproduction_table
from evopinn.view.study.tables.sensitivity import morris_table, ranking_table, sensitivity_table


def study_tables(study: AnyStudy, directory: Path) -> list[Sheet]:
    """All tables of a study that has been carried out.

    Args:
        study: Any of the studies.
        directory: Where its runs lie.
    """
    return _TABLES[study.design.kind](study, directory, study.trials(directory))


def _reproduction(study: ReproductionStudy, directory: Path, trials: Sequence[Trial]) -> list[Sheet]:  # noqa: ARG001
    return [reproduction_table(study, trials)]


def _comparison(study: ComparisonStudy, directory: Path, trials: Sequence[Trial]) -> list[Sheet]:
    found = study.discoveries(directory)
    return [
        accounting_table(study, found),
        *discovery_tables(study, found, trials),
        methods_table(study, trials),
        contrasts_table(study, trials),
    ]


def _sensitivity(study: SensitivityStudy, directory: Path, trials: Sequence[Trial]) -> list[Sheet]:
    morris = study.morris(directory)
    together = [] if morris is None else [morris_table(morris)]
    return [sensitivity_table(study.table(trials)), ranking_table(study.ranking(trials)), *together]


_TABLES: Mapping[str, Callable[[Any, Path, Sequence[Trial]], list[Sheet]]] = {
    "reproduce": _reproduction,
    "compare": _comparison,
    "sensitivity": _sensitivity,
}
