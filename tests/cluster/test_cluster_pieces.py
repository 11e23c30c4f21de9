"""Parts of what makes a search run on a cluster, without one."""

import errno
import io
import os
import pickle
import re
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import search_problem
import torch
from rich.console import Console
from simulate_cluster import Circumstances, of_time, simulate, table

from evopinn.errors import RunError, SearchError
from evopinn.run.config import Config
from evopinn.search import Schedule
from evopinn.training import TrainingOptions, TrainingResult
from evopinn.workers.cluster import ray_task as task
from evopinn.workers.cluster.cluster import Connection
from evopinn.workers.evaluation import (
    Assignment,
    ResultWithState,
    StorageFailure,
    Trainer,
    packed_work,
    unpacked_result,
)
from evopinn.workers.problem_source import ProblemSource, same_fingerprint

ROOT = Path(__file__).parents[2]
GENOME = "layers=3 neurons=5 shortcuts=none activation=tanh(x)"


@pytest.fixture(scope="module")
def trainer():
    return Trainer(ProblemSource.of(search_problem.problem), TrainingOptions("lbfgs"))


def sent(trainer, work):
    """What comes back of an assignment that was sent to a node."""
    return unpacked_result(work, pickle.dumps(trainer(pickle.loads(packed_work(work)))))


def test_states_travel_and_are_written_by_the_driver(trainer, tmp_path):
    first = Assignment(GENOME, 4, seed=1, keep=tmp_path / "here" / "1.safetensors")
    second = Assignment(GENOME, 7, seed=1, keep=tmp_path / "here" / "2.safetensors", before=(first,))
    third = Assignment(GENOME, 9, seed=1, before=(second, first))
    expected = [trainer(replace(work, before=(), keep=None)).theta for work in (first, second, third)]
    for work, theta in zip((first, second, third), expected, strict=True):
        result = sent(trainer, work)
        assert isinstance(result, TrainingResult)
        assert result.theta.equal(theta)
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["1.safetensors", "2.safetensors"]
    message = pickle.loads(packed_work(third))
    assert (message.before, message.state) == ((), second.keep.read_bytes())


def test_a_state_that_is_damaged_is_made_again_from_the_one_before(trainer, tmp_path):
    first = Assignment(GENOME, 4, seed=1, keep=tmp_path / "1.safetensors")
    second = Assignment(GENOME, 7, seed=1, keep=tmp_path / "2.safetensors", before=(first,))
    third = Assignment(GENOME, 9, seed=1, before=(second, first))
    sent(trainer, first)
    second.keep.write_bytes(b"torn")
    message = pickle.loads(packed_work(third))
    assert [each.epochs for each in message.before] == [7]
    assert message.state == first.keep.read_bytes()
    assert sent(trainer, third).theta.equal(trainer(replace(third, before=())).theta)


def test_no_path_is_sent(tmp_path):
    work = Assignment(
        GENOME, 9, seed=1, keep=tmp_path / "9", before=(Assignment(GENOME, 4, 1, keep=tmp_path / "4"),)
    )
    message = pickle.loads(packed_work(work))
    assert message.carry
    assert message.keep is None
    assert [each.keep for each in message.before] == [None]


def test_a_state_above_the_threshold_does_not_come_back(trainer, tmp_path):
    work = Assignment(GENOME, 4, seed=1, keep=tmp_path / "1", keep_below=-1.0)
    assert isinstance(trainer(pickle.loads(packed_work(work))), TrainingResult)
    assert isinstance(trainer(pickle.loads(packed_work(replace(work, keep_below=1e9)))), ResultWithState)


def test_a_state_that_cannot_be_written_here_is_trouble(trainer, tmp_path):
    (tmp_path / "file").touch()
    answer = sent(trainer, Assignment(GENOME, 2, seed=1, keep=tmp_path / "file" / "state"))
    assert isinstance(answer, StorageFailure)
    assert str(tmp_path / "file" / "state") in answer.text


@pytest.mark.parametrize(
    ("packed", "word"), [(b"no pickle", "could not be read"), (pickle.dumps(5), "no sense: 5")]
)
def test_what_makes_no_sense_is_refused(packed, word):
    with pytest.raises(ValueError, match=word):
        unpacked_result(Assignment(GENOME, 2, seed=1), packed)


PROBLEM = """
from pathlib import Path
import evopinn as ep
import beside
amount = float((Path(__file__).parent / "amount.txt").read_text())
problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u, x: u.xx + amount * beside.source(x),
    conditions=[ep.Boundary(lambda u: u)],
    points=ep.Grid(interior=20, boundary=2),
)
"""


def test_a_problem_travels_with_its_data_and_the_modules_beside_it(tmp_path):
    (tmp_path / "mine.py").write_text(PROBLEM)
    (tmp_path / "beside.py").write_text("import torch\ndef source(x): return torch.sin(3 * x)\n")
    (tmp_path / "amount.txt").write_text("2.5")
    given = ProblemSource.of(str(tmp_path / "mine.py"))
    portable, number = given.portable(), given.fingerprint
    assert portable.name == given.name
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()
    program = (
        "import pickle, sys; "
        "source = pickle.load(sys.stdin.buffer); print(repr(source.fingerprint), source.problem.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(portable),
        capture_output=True,
        check=True,
        cwd="/",
    )
    other, name = done.stdout.decode().split()
    assert same_fingerprint(float(other), number)
    assert name == given.name


def test_a_problem_of_the_catalogue_goes_by_its_name():
    source = ProblemSource.of("klein-gordon")
    assert source.portable() is source


def test_what_a_node_lacks_is_told():
    here = task.node_versions(gpu=False)
    assert task.missing_requirements(here, here) == ""
    other = here | {"evopinn": "0.0.9", "torch": task.MISSING, task.DEVICE: task.NO_DEVICE, "numpy": "1"}
    not_installed, other_version, no_device = task.missing_requirements(other, here).split("; ")
    assert "torch" in not_installed
    assert re.match(rf"evopinn .*0\.0\.9.*{here['evopinn']}", other_version)
    assert "CUDA" in no_device


def test_nothing_loads_ray_but_the_broker():
    program = "import sys, evopinn.api, evopinn.cli.search; assert 'ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (
            "ray://10.0.0.1:10001",
            r"ray://10\.0\.0\.1:10001.*--cluster auto",
        ),
        ("nonsense", r"'nonsense'; .*\bauto\b.*\bhost:port\b.*\blocal\b"),
        ("host:port", r"'host:port'; .*\bauto\b"),
        ("", r"''; .*\bauto\b"),
    ],
)
def test_an_address_that_is_none_is_refused(address, told):
    with pytest.raises(RunError, match=told):
        Connection(address)


def test_a_port_at_which_nothing_listens_is_refused_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    began = time.monotonic()
    refusal = re.escape(os.strerror(errno.ECONNREFUSED))
    with pytest.raises(RunError, match=rf"127\.0\.0\.1:{port} \({refusal}\).*`ray start --head`"):
        Connection(f"127.0.0.1:{port}")
    assert time.monotonic() - began < 10


def test_a_port_at_which_something_else_listens_is_given_up(monkeypatch):
    monkeypatch.setattr("evopinn.workers.cluster.cluster._CONNECTING", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(RunError, match=rf"127\.0\.0\.1:{port} "):
            Connection(f"127.0.0.1:{port}")


def test_without_ray_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RunError, match=r'Ray.*`?pip install "evopinn\[ray\]"'):
        Connection("auto")


def test_a_mistaken_address_is_a_mistake_in_the_command(run, tmp_path):
    words = ["search", "klein-gordon", "--preset", "quick", "--run", str(tmp_path / "run")]
    code, out, told = run(*words, "--cluster", "nonsense")
    assert (code, out) == (2, "")
    assert told.count("\n") == 1
    assert "'nonsense'" in told
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--gpus-per-worker", "0.25"],
            r"\bworkers\.gpus .*\bworkers\.cluster .*\bnot given\b.*\baddress\b",
        ),
        (
            ["--cluster", "auto", "--gpus-per-worker", "1.5"],
            r"\bworkers\.gpus is 1\.5\b.*\bwhole number\b.*\bbelow 1\b",
        ),
        (
            ["--cluster", "auto", "--cpus-per-worker", "0"],
            r"\bworkers\.cpus = 0\.0\b.*\bgreater than 0\b",
        ),
        (
            ["--cluster", "local", "--gpus-per-worker", "0.25"],
            r"\bworkers\.gpus .*\bworkers\.cluster is local\b.*\baddress\b",
        ),
        (
            ["--cluster", "auto", "--gpus-per-worker", "0.25", "--engine", "fused"],
            r"\btraining\.engine is fused\b.*\bworkers\.gpus is 0\.25\b.*\btaylor or auto\b",
        ),
    ],
)
def test_demands_that_make_no_sense_are_refused(run, options, told):
    code, _, err = run("search", "klein-gordon", "--preset", "quick", *options)
    assert code == 2
    assert re.search(told, err)


def test_a_run_that_moves_forgets_how_many_workers_it_had():
    config = Config.of(
        {"problem": "klein-gordon", "workers": {"cluster": "auto", "count": 200, "gpus": 0.5, "memory": 999}}
    )
    assert config.with_workers({}).workers == config.workers
    assert config.with_workers({"count": 3}).workers.gpus == 0.5
    fused = Config.of({"problem": "klein-gordon", "training": {"engine": "fused"}})
    with pytest.raises(SearchError, match=r"training\.engine .*workers\.gpus is 1\b"):
        fused.with_workers({"cluster": "auto", "gpus": 1})
    home = config.with_workers({"cluster": "local"}).workers
    assert (home.cluster, home.count, home.gpus, home.memory) == ("local", None, None, 999)


def test_a_worker_with_a_gpu_trains_on_it_and_takes_its_share_of_memory():
    options = TrainingOptions()
    assert options.on_gpu(0.0) == options
    assert (options.on_gpu(0.25).device, options.on_gpu(0.25).memory_share) == ("cuda", 0.25)
    assert options.on_gpu(2.0).memory_share == 1.0


def test_a_trainer_may_allocate_no_more_of_a_gpu_than_its_share(monkeypatch):
    shares = []
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", shares.append)
    Trainer(ProblemSource("burgers"), TrainingOptions().on_gpu(0.25))
    Trainer(ProblemSource("burgers"), TrainingOptions())
    assert shares == [0.25]


def test_the_script_for_slurm_is_a_script():
    page = (ROOT / "docs" / "cluster.md").read_text()
    (script,) = re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_simulation_loses_time_to_lost_nodes_and_to_waiting():
    lucky = Circumstances(losses=0.0)
    schedule = Schedule((64, 16, 8), (20, 40, 80))
    alone, many = simulate(schedule, 1, lucky), simulate(schedule, 64, lucky)
    assert alone.busy == pytest.approx(many.busy)  # the same trainings
    assert alone.seconds == pytest.approx(alone.busy + lucky.startup, rel=0.02)
    assert many.busy / 64 < many.seconds < alone.seconds
    assert (many.lost, many.again) == (0, 0.0)
    unlucky = simulate(schedule, 64, Circumstances(losses=600.0, replacement=5.0))
    assert unlucky.lost > 0
    assert unlucky.again > 0
    assert unlucky.seconds > many.seconds
    shown = Console(width=110, file=io.StringIO())
    shown.print(table(lambda workers: schedule, [1, 64], lucky, repeats=1))
    rows = [line for line in shown.file.getvalue().splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["1", "64"]


@pytest.mark.parametrize("workers", [1, 8, 64, 1000])
def test_a_budget_of_time_is_about_kept_on_any_number_of_workers(workers):
    met, budget = Circumstances(), 7200.0
    taken = simulate(of_time(budget, workers, met), workers, met).seconds
    assert taken == pytest.approx(budget, rel=0.15)
