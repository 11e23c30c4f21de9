"""Progress of a training while it runs: a live line on a terminal, occasional lines elsewhere."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Column

from evopinn.training import Progress
from evopinn.view.numbers import duration, scientific

LIVE_SECONDS = 0.1
LINE_SECONDS = 10.0
ROOM_FOR_BAR = 110

Report = Callable[[Progress], None]


@contextmanager
def training_progress(console: Console) -> Generator[Report]:
    """What to give to `train` as `on_progress`, for as long as the training runs."""
    if console.is_terminal:
        with _bar(console) as bar:
            yield _throttled(_on_bar(bar), LIVE_SECONDS)
    else:
        yield _throttled(lambda now: console.print(_line(now), highlight=False), LINE_SECONDS)


def _bar(console: Console) -> ProgressBar:
    """Epoch and time keep their place on a narrow terminal; the bar goes first, then the measures are cut."""
    cut = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=9)),
        *((BarColumn(),) if console.width >= ROOM_FOR_BAR else ()),
        TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7)),
        TextColumn("{task.description}", table_column=cut),
    )
    return ProgressBar(*columns, console=console, transient=True, expand=True)


def _on_bar(bar: ProgressBar) -> Report:
    task = bar.add_task("", total=None)
    return lambda now: bar.update(task, completed=now.epoch, total=now.epochs, description=_measures(now))


def _throttled(report: Report, interval: float) -> Report:
    """The same report, at once and then at most once per interval, and at the last epoch.

    If the output is gone, for example a closed pipe, the training continues silently.
    """
    last = -math.inf

    def maybe(now: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= interval or now.epoch == now.epochs:
            last = time.monotonic()
            try:
                report(now)
            except OSError:
                last = math.inf

    return maybe


def _measures(now: Progress) -> str:
    errors = [f"error {name} {scientific(error)}" for name, error in now.errors.items()]
    if errors and now.errors_epoch != now.epoch:
        errors.append(f"(at {now.errors_epoch})")
    return "  ".join([f"loss {scientific(now.loss)}", *errors])


def _line(now: Progress) -> str:
    return f"epoch {now.epoch}/{now.epochs}  {_measures(now)}  {duration(now.seconds)}"
