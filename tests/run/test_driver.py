"""The driver's decisions, with trainings that are made up."""

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import search_problem
import torch
from searches import PROBLEM

import evopinn as ep
from evopinn.errors import RunError
from evopinn.genome import Genome, Space
from evopinn.run.checkpoints import Checkpoints
from evopinn.run.driver import Deadlines, Driver, Limits
from evopinn.run.progress import ProgressTracker, Snapshot
from evopinn.search import Evolution, EvolutionSettings, Schedule
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.training import Status, TrainingOptions
from evopinn.workers.evaluation import (
    Assignment,
    Probe,
    ProbeTiming,
    StorageFailure,
    Trainer,
    is_valid_result,
)
from evopinn.workers.pool import Failure, Outcome
from evopinn.workers.problem_source import ProblemSource, fingerprint, same_fingerprint

GENOME = "layers=3 neurons=5 shortcuts=none activation=tanh(x)"
SCHEDULE = Schedule((10, 6), (5, 10))
SETTINGS = EvolutionSettings(candidates=1, evaluations=1, continue_elitists=True)


@pytest.fixture(scope="module")
def result():
    return ep.train(search_problem.problem, GENOME, epochs=3, seed=4, optimizer="lbfgs")


class Stage:
    """In the place of workers: jobs that end at once, the latest first, as a function says.

    Args:
        outcome: From the number and the work of a job to its result, or to None if it raises.
    """

    def __init__(self, outcome):
        self._outcome = outcome
        self._jobs = []
        self.deadlines = []

    @property
    def outstanding(self):
        return len(self._jobs)

    @property
    def room(self):
        return 3 - len(self._jobs)

    def submit(self, number, work, seconds, _expected=None):
        self._jobs.append((number, work))
        self.deadlines.append(seconds)

    def wait(self, timeout):
        del timeout
        number, work = self._jobs.pop()
        value = self._outcome(number, work)
        failure = Failure(Status.RAISED, f"task {number} says no") if value is None else None
        return [Outcome(number, 1, 1, 2.0, value, failure)]


@pytest.fixture
def drive(tmp_path):
    """Begin a search, or go on with it, with made-up workers: the snapshots that were shown."""

    def drive(stage, stop_after=math.inf, **limits):
        directory = tmp_path / "run"
        shown = []
        store = Store.open(directory) if directory.exists() else Store.create(directory, "", {})
        with store:
            start = Snapshot(directory, "poisson", "evo-dpste", "starting", workers=2)
            progress = ProgressTracker(start, SETTINGS.workload(SCHEDULE), shown.append)
            Driver(
                searcher=Evolution(SCHEDULE, seed=1, settings=SETTINGS),
                store=store,
                pool=stage,
                checkpoints=Checkpoints(directory, 2, last=SCHEDULE.generations),
                limits=Limits(**limits),
                progress=progress,
                stopped=lambda: len(store.losses()) >= stop_after,
            ).run()
        return shown

    return drive


@pytest.fixture
def trained(result):
    """A training that comes out well, as it would from a worker."""

    def trained(number, work):
        before = work.before[0].epochs if work.before else 0
        settings = dict(result.settings) | {"start_epoch": before}
        return replace(result, loss=1 / (1 + number), epochs=work.epochs, settings=settings)

    return trained


def test_a_problem_that_raises_on_every_genome_is_refused_after_a_round(drive, tmp_path):
    for _ in range(2):  # a resumed run comes to the same end
        with pytest.raises(RunError, match=r"10 trainings .*:\ntask 9 says"):
            drive(Stage(lambda *_: None))
        with Reader(tmp_path / "run") as reader:
            assert [each.settled for each in reader.generations()] == [10]


@pytest.mark.parametrize("good", [0, 9])
def test_one_training_that_does_not_raise_is_enough_to_go_on(drive, trained, good):
    """Whether it is the first or the last of its round, and whatever a resumed run meets first."""
    stage = Stage(lambda number, work: trained(number, work) if number == good else None)
    drive(stage, stop_after=7)
    shown = drive(stage)
    assert shown[-1].generation == 3


def test_epochs_of_trainings_that_go_on_are_counted_once(drive, trained, tmp_path):
    shown = drive(Stage(trained))
    planned = SETTINGS.workload(SCHEDULE).epochs
    assert planned == 10 * 5 + 6 * 10 + 2 * (10 - 5) + 10
    assert shown[-1].epochs == shown[-1].epochs_planned == planned
    with Reader(tmp_path / "run") as reader:
        assert sum(each.epochs for each in reader.generations()) == planned


def test_deadlines_follow_from_what_is_known():
    unknown, measured, fixed = Deadlines(None), Deadlines(None, pace=0.5), Deadlines(7.0, pace=0.5)
    assert unknown.seconds(work=1000, epochs=30) == 600 + 30
    assert measured.seconds(work=1000, epochs=30) == 20 * 0.5 * 1000
    assert measured.seconds(work=1, epochs=30) == 60
    assert fixed.seconds(work=1000, epochs=30) == 7
    unknown.learn(work=10, seconds=20)
    assert unknown.seconds(work=1000, epochs=30) == 20 * 2 * 1000


def test_a_search_for_starts_resumes_to_the_same_losses(tmp_path):
    trainer = Trainer(ProblemSource.of(search_problem.problem), TrainingOptions(optimizer="lbfgs"))
    space = Space(3, 4, (4, 8, 2), starts=("paper", "unit"))

    def run(directory, stop_after=math.inf):
        store = Store.open(directory) if directory.exists() else Store.create(directory, "", {})
        with store:
            start = Snapshot(directory, "poisson", "evo-dpste", "starting", workers=1)
            Driver(
                searcher=Evolution(SCHEDULE, seed=1, space=space, settings=SETTINGS),
                store=store,
                pool=Stage(lambda _, work: trainer(work)),
                checkpoints=Checkpoints(directory, 2, last=SCHEDULE.generations),
                limits=Limits(),
                progress=ProgressTracker(start, SETTINGS.workload(SCHEDULE), lambda _: None),
                stopped=lambda: len(store.losses()) >= stop_after,
            ).run()
        with Reader(directory) as reader:
            return [(each.task, each.genome, each.loss) for each in reader.page()]

    whole = run(tmp_path / "whole")
    assert len({Genome.parse(genome).start for _, genome, _ in whole}) > 3
    for stop_after in (4, 12):
        part = run(tmp_path / "stopped", stop_after)
        assert stop_after <= len(part) < len(whole)
    assert run(tmp_path / "stopped") == whole


def test_a_resumed_run_knows_how_long_trainings_take(drive, trained):
    first, second, third = Stage(trained), Stage(trained), Stage(trained)
    drive(first, stop_after=3)
    assert first.deadlines[0] == 600 + 5
    drive(second, stop_after=5)
    assert second.deadlines[0] < 600
    drive(third, seconds=9.0)
    assert set(third.deadlines) == {9.0}


def test_answers_are_held_against_what_was_asked(result):
    work = Assignment(GENOME, 3, seed=4)
    broken = result.theta.clone()
    broken[2] = math.nan
    assert is_valid_result(work, result)
    assert is_valid_result(work, StorageFailure("no room"))
    assert is_valid_result(work, replace(result, theta=broken, loss=math.inf))
    assert is_valid_result(Probe(GENOME, 3, seed=4), ProbeTiming(0.1, 2, 0.1))
    for other in (
        replace(result, theta=broken),
        replace(result, theta=result.theta[1:]),
        replace(result, epochs=4),
        replace(result, seed=5),
        replace(result, genome=ep.Genome.parse("layers=3 neurons=5 activation=sin(x)")),
        ProbeTiming(0.1, 2, 0.1),
        None,
    ):
        assert not is_valid_result(work, other)
    assert not is_valid_result(Probe(GENOME, 3, seed=4), result)


def test_a_probe_times_epochs_only(monkeypatch):
    """To measure errors takes long, and does not belong to the epochs."""
    clock = [0.0]
    monkeypatch.setattr("evopinn.workers.evaluation.time.perf_counter", lambda: clock[0])

    def residual(u, x):
        clock[0] += 1
        return u.xx

    def solution(x):
        clock[0] += 1000
        return x

    problem = replace(search_problem.problem, residual=residual, solution=solution)
    monkeypatch.setattr(ProblemSource, "problem", problem)
    timing = Trainer(ProblemSource("slow"), TrainingOptions(optimizer="lbfgs", engine="autograd"))(
        Probe(GENOME, 10, seed=0)
    )
    assert timing.epochs == 10
    assert 10 <= timing.seconds < 1000
    assert timing.setup >= 1000


def test_a_probe_leaves_out_the_first_step(monkeypatch):
    """It compiles what the others use too."""
    clock = [0.0]
    monkeypatch.setattr("evopinn.workers.evaluation.time.perf_counter", lambda: clock[0])

    def trained(*_, on_progress, **__):
        with suppress(KeyboardInterrupt):  # as a training does
            for epoch, clock[0] in ((0, 5.0), (6, 25.0), (12, 31.0), (18, 37.0), (24, 43.0)):
                on_progress(SimpleNamespace(epoch=epoch))

    monkeypatch.setattr("evopinn.workers.evaluation.train", trained)
    trainer = Trainer(ProblemSource("heat"), TrainingOptions(optimizer="lm"))
    timing = trainer(Probe(GENOME, 10, seed=0))
    assert (timing.epochs, timing.seconds) == (12, 12.0)
    assert timing.setup == 25.0


@pytest.mark.parametrize(("seconds", "epochs"), [(0.1, 10), (0.02, 25), (0.001, 50)])
def test_a_probe_lasts_half_a_second_or_half_a_training(monkeypatch, seconds, epochs):
    clock = [0.0]
    monkeypatch.setattr("evopinn.workers.evaluation.time.perf_counter", lambda: clock[0])

    def trained(*_, on_progress, **options):
        with suppress(KeyboardInterrupt):
            for epoch in range(options["epochs"]):
                clock[0] = epoch * seconds + 1e-9 * epoch
                on_progress(SimpleNamespace(epoch=epoch))

    monkeypatch.setattr("evopinn.workers.evaluation.train", trained)
    timing = Trainer(ProblemSource("heat"), TrainingOptions(optimizer="lm"))(Probe(GENOME, 10, seed=0))
    assert timing.epochs == epochs
    assert timing.seconds == pytest.approx(epochs * seconds, rel=1e-4)


def test_a_probe_has_the_engine_of_the_trainings_that_it_stands_for(monkeypatch):
    """Kernels do not repay their compilation in ten epochs on so many points, but in a hundred."""
    problem = replace(search_problem.problem, points=ep.Grid(interior=2000, boundary=2, test=21))
    monkeypatch.setattr(ProblemSource, "problem", problem)
    engines = []

    def noted(*arguments, **options):
        result = ep.train(*arguments, **options)
        engines.append(result.settings["engine"])
        return result

    monkeypatch.setattr("evopinn.workers.evaluation.train", noted)
    trainer = Trainer(ProblemSource("large"), TrainingOptions(optimizer="lbfgs"))
    genome = "layers=3 neurons=30 activation=tanh(x)"
    for epochs in (10, 100):
        trainer(Assignment(genome, epochs, seed=0))
    assert 10 <= trainer(Probe(genome, 10, seed=0)).epochs <= 50
    assert engines == ["taylor", "fused", "fused"]


def problem_with(residual):
    return replace(search_problem.problem, residual=residual)


def test_a_worker_refuses_a_problem_that_has_changed(tmp_path):
    path = tmp_path / "problem.py"
    text = Path(PROBLEM).read_text()
    path.write_text(text)
    source = ProblemSource.of(str(path))
    expected = source.fingerprint
    Trainer(source, TrainingOptions(), expected)
    path.write_text(text.replace("weight=10", "weight=11"))
    with pytest.raises(RunError, match=r"\bproblem poisson .*\bchanged\b"):
        Trainer(ProblemSource.of(str(path)), TrainingOptions(), expected)


def test_problems_whose_losses_are_not_finite_have_fingerprints():
    """A logarithm of what may be negative is told from another; what is never a number equals itself."""
    never = problem_with(lambda u: torch.log(u - 10))
    assert math.isnan(fingerprint(never))
    assert same_fingerprint(fingerprint(never), fingerprint(never))
    assert not same_fingerprint(fingerprint(never), 1.0)
    logarithm, changed = problem_with(lambda u: 3 * torch.log(u)), problem_with(lambda u: 2 * torch.log(u))
    assert math.isfinite(fingerprint(logarithm))
    assert same_fingerprint(fingerprint(logarithm), fingerprint(logarithm))
    assert not same_fingerprint(fingerprint(logarithm), fingerprint(changed))
