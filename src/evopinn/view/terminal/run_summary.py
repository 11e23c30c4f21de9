"""The list of runs and the summary of one, for a terminal."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from evopinn.run.record import RunRecord
from evopinn.run.wording import run_name, visible
from evopinn.view.run_facts import best_facts, next_step, run_facts
from evopinn.view.run_tables import (
    failures_table,
    finalists_table,
    hall_of_fame_table,
    rounds_table,
    runs_table,
)
from evopinn.view.tables import Facts
from evopinn.view.terminal.console import PIPE_WIDTH, PipedConsole
from evopinn.view.terminal.run_charts import Chart

_ROUNDS = 20


def runs_list(runs: Sequence[RunRecord], unreadable: Iterable[tuple[Path, str]] = ()) -> Group:
    """Runs, one a line; below them those that cannot be read, with the reason."""
    reasons = [Text(visible(f"{path.name}: {reason}")) for path, reason in unreadable]
    return Group(*([runs_table(runs).rich()] if runs else []), *reasons)


def run_page(run: RunRecord, charts: Iterable[Chart] = ()) -> Group:
    """One run: what it is, its best network, its tables, charts, what to do next."""
    parts: list[RenderableType] = [Facts([*run_facts(run).facts, *best_facts(run).facts]).rich()]
    tables = (finalists_table(run), hall_of_fame_table(run), rounds_table(run, _ROUNDS), failures_table(run))
    for table in tables:
        if table.records:
            parts += ["", table.rich()]
    for chart in charts:
        parts += ["", Text(chart.title), *(Text(line, no_wrap=True) for line in chart.lines)]
    return Group(*parts, "", Text(visible(next_step(run, run_name(run.directory)))))


def found(run: RunRecord) -> Group:
    """What a search has found: how it stands, its best network and its hall of fame."""
    goal = run.goal
    head = Text(visible(f"{goal.problem}, {goal.method}, seed {goal.seed}: {run.state}"))
    if run.best is None:
        return Group(head, Text(visible(run.why_no_network)))
    return Group(head, best_facts(run).rich(), "", hall_of_fame_table(run).rich())


def as_text(content: RenderableType) -> str:
    """What a terminal of any width would show."""
    file = io.StringIO()
    PipedConsole(file=file, width=PIPE_WIDTH, color_system=None).print(content)
    return file.getvalue().rstrip("\n")
