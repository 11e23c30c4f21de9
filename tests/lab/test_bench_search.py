"""The section `search` of `evopinn bench`: what it measures is a search as any run does it."""

import json
import re
from dataclasses import replace

import pytest
from inline import Inline
from rich.console import Console
from typer.testing import CliRunner

from evopinn.cli import app
from evopinn.lab.bench.cases import QUICK, SearchLoad
from evopinn.lab.bench.findings import DriverCost, LongRun, Throughput
from evopinn.lab.bench.isolation import CrashedError
from evopinn.lab.bench.machine import this_machine
from evopinn.lab.bench.search_overhead import SimulatedPool, Simulation, Simulator, Spent, TaskBatch
from evopinn.lab.bench.sections import BenchReport
from evopinn.run.progress import Snapshot
from evopinn.search import Evolution, Schedule, Score
from evopinn.store.kept_networks import kept_weights
from evopinn.store.reader import Reader

TINY = SearchLoad(QUICK.cases[0], trainings=3, epochs=2, population=12, evaluations=40)
FINAL = 12  # three candidates, four times each


@pytest.fixture(scope="module")
def simulator():
    return Simulator(TINY.case, TINY.epochs)


def bench_search(monkeypatch, *options):
    monkeypatch.setattr("evopinn.lab.bench.cases.QUICK", replace(QUICK, search=TINY))
    command = ["bench", "--quick", "--only", "search", *options]
    ended = CliRunner().invoke(app, command, env={"COLUMNS": "250"})
    assert ended.exit_code == 0, ended.output
    return ended.stdout, ended.stderr


def test_a_search_is_timed_beside_its_trainings(monkeypatch, tmp_path):
    monkeypatch.setattr("evopinn.lab.bench.search_overhead.Isolated", Inline)
    out, err = bench_search(monkeypatch, "--rounds", "2", "--json", str(tmp_path / "bench.json"))
    rows = out.partition("A search beside its trainings")[2]
    for text in ("two workers", "3 trainings", "1.85×: ", "driver and store", "24 simulated", "below 2 %: "):
        assert text in rows
    for text in ("driver's memory", "54 simulated", "below 20 MB: ", "evopinn show", "below 1 s: "):
        assert text in rows
    assert re.search(r"cores, two\b", out)
    assert [line.partition(":")[0] for line in err.splitlines()] == ["search"] * 3

    two, driver, long = json.loads((tmp_path / "bench.json").read_text())["search"]
    assert [row["measure"] for row in (two, driver, long)] == ["throughput", "driver", "long run"]
    assert len(two["one"]) == len(two["two"]) == 2
    assert min(*two["one"], *two["two"], two["speedup"]) > 0
    assert driver["evaluations"] == TINY.population + FINAL
    assert driver["cpu"] > 0
    assert driver["share"] == driver["wall"] / two["interval"] > 0
    assert long["evaluations"] == 12 + 2 * (12 + 3) + FINAL  # the least number of generations for 40
    assert long["growth"] == long["late"] - long["early"]
    assert min(long["early"], long["show"], long["rate"]) > 0


def test_a_simulation_that_crashes_does_not_take_the_throughput_with_it(monkeypatch):
    class Crashing(Inline):
        def call(self, *_):
            raise CrashedError("gone")

    monkeypatch.setattr("evopinn.lab.bench.search_overhead.Isolated", Crashing)
    monkeypatch.setattr(
        "evopinn.lab.bench.sections.measure_throughput", lambda load, rounds: Throughput(3, [2.0], [1.0])
    )
    out, err = bench_search(monkeypatch)
    assert "2.00×" in out
    assert "driver" not in out
    assert err.count("failed") == 2


def test_a_simulated_search_is_recorded_as_any_run(simulator, tmp_path):
    simulation = simulator.search(tmp_path / "run", population=20, evaluations=100)
    expected = [20, 25, 25, 25, 25, FINAL]
    with Reader(tmp_path / "run") as reader:
        assert reader.state() == "finished"
        assert [each.settled for each in reader.generations()] == expected
        best = reader.hall_of_fame()
        history = reader.history(best[0].task)
    assert simulation.evaluations == sum(expected)
    assert min(simulation.spent.cpu, simulation.spent.wall, simulation.early, simulation.late) > 0
    assert len(history.losses) == 1 + TINY.epochs
    assert {entry.task for entry in best} <= kept_weights(tmp_path / "run")
    assert len({entry.generation for entry in best}) > 1


def test_memory_is_compared_with_that_after_a_tenth(simulator, tmp_path, monkeypatch):
    def reporting(directory, *_, watch, **__):
        for trained in (1, 9, 10, 60, 100):
            watch(Snapshot(directory, "heat", "evolution", "searching", trained=trained))
        return Spent(cpu=1.0, wall=2.0)

    readings = iter((500, 400, 310, 700, 330))
    monkeypatch.setattr("evopinn.lab.bench.search_overhead.drive", reporting)
    monkeypatch.setattr("evopinn.lab.bench.search_overhead.process_memory", lambda row: next(readings))
    found = simulator.search(tmp_path / "run", population=20, evaluations=100)
    assert found == Simulation(100, Spent(cpu=1.0, wall=2.0), early=310, late=330)


def test_simulated_results_come_one_by_one_and_share_nothing(simulator):
    workers = SimulatedPool(simulator._result)
    for number in (7, 8, 7):
        workers.submit(number, None, 1.0)
    assert workers.outstanding == 3
    ended = [each for _ in range(3) for each in workers.wait(0)]
    assert [each.number for each in ended] == [7, 8, 7]
    assert workers.outstanding == 0
    assert workers.wait(0) == []
    first, second, again = (each.value for each in ended)
    assert first.loss == again.loss != second.loss
    assert len({each.value.theta.data_ptr() for each in ended}) == 3
    assert first.history == simulator._result.history


def test_a_batch_asks_once_and_ends_with_its_last_task():
    tasks = Evolution(Schedule((3,), (2,)), seed=0).ask()
    batch = TaskBatch(tasks)
    assert batch.ask() == tasks
    assert batch.ask() == ()
    for task in reversed(tasks):
        assert not batch.finished
        batch.tell(task.number, Score(1.0))
    assert batch.finished


def test_figures_are_medians_over_rounds_and_verdicts_follow_from_them():
    # The rounds' ratios are 2, 1.6 and 1; the ratio of the medians would be 1.5.
    throughput = Throughput(10, one=(2.0, 8.0, 3.0), two=(1.0, 5.0, 3.0))
    assert throughput.speedup == 1.6
    assert throughput.interval == 0.3
    driver = DriverCost(1012, cpu=0.003, wall=0.015, interval=0.3)
    assert driver.share == pytest.approx(0.05)
    long = LongRun(100_000, 500.0, early=300_000_000, late=325_000_000, show=1.5)
    assert long.growth == 25_000_000
    assert long.rate == 200
    shown = printed(throughput, driver, long)
    for text in ("1.60×", "1.85×: missed by 14 %", "5.0 %", "below 2 %: missed", "200 evaluations/s"):
        assert text in shown
    for text in ("+25.0 MB", "below 20 MB: missed", "1.5 s", "below 1 s: missed"):
        assert text in shown
    good = (
        Throughput(10, (1.9,), (1.0,)),
        replace(driver, wall=0.005),
        replace(long, late=long.early, show=0.5),
    )
    assert printed(*good).count(": met") == 4


def printed(*rows):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(BenchReport(this_machine(), 3, {"search": rows}).rich())
    return capture.get()
