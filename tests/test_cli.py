"""The command line as a user meets it."""

import errno
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evopinn.genome import DEFAULT_GENOME, Genome
from evopinn.run.config import Config
from evopinn.training import load, train

OWN_PROBLEM = """
import torch
import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u, x: u.xx + u,
    conditions=[ep.Boundary(lambda u, x: u - torch.cos(x))],
    points=ep.Grid(interior=20, boundary=2),
    solution=lambda x: torch.cos(x),
    name="mine",
)
"""

SMALL = "layers=3 neurons=20 activation=tanh(x)"


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "my_problem.py"
    path.write_text(OWN_PROBLEM)
    return str(path)


def test_problems_lists_the_catalogue(run):
    code, out, _ = run("problems")
    assert code == 0
    for name in ("klein-gordon", "burgers", "lame", "allen-cahn", "kovasznay"):
        assert name in out


def test_problems_shows_one_problem_with_its_terms(run):
    code, out, _ = run("problems", "lame:IV")
    assert code == 0
    for text in ("4232", "300", "200", "u.xx", "v.xy", "17268"):
        assert text in out


def test_models_lists_all_published_models(run):
    code, out, _ = run("models", "--json")
    assert code == 0
    models = json.loads(out)
    assert len(models) == 45
    assert models[12]["model"] == "paper:evo-dpste-1"
    assert models[12]["errors"][0] == {"case": "I", "field": "u", "mean": 8.85e-5, "deviation": 3.40e-5}
    code, out, _ = run("models", "lame")
    assert out.count("paper:") == 15
    assert "6.18e-06 ± 1.74e-06" in out


def test_space_prints_the_papers_table(run):
    code, out, _ = run("space")
    assert code == 0
    for figure in ("2.83e+05", "2.65e+05", "9.97e+08", "3.34e+12", "3.40e+12", "9.64e+17"):
        assert figure in out
    _, out, _ = run("space", "--space", "layers=3-4 neurons=8-16:8 operators=1 parameters=0", "--json")
    assert json.loads(out) == {
        "space": "layers=3-4 neurons=8-16:8 operators=1 parameters=0",
        "structures": 36,
        "activations": {"1": 23, "all": 23},
        "models": 828,
    }


def test_train_a_users_own_problem(run, own, tmp_path):
    name = str(tmp_path / "out" / "model")
    code, out, err = run(
        "train",
        own,
        "--genome",
        SMALL,
        "--optimizer",
        "lbfgs",
        "--epochs",
        "30",
        "--seed",
        "3",
        "--save",
        name,
    )
    assert code == 0
    for text in ("loss", "error of u", "481", "30", "seed 3", "finished"):
        assert text in out
    assert "epoch 30/30" in err
    assert load(name).problem == "mine"


def test_train_prints_json_for_scripts(run, own):
    code, out, _ = run("train", f"{own}:problem", "--genome", SMALL, "--epochs", "5", "--json", "--quiet")
    assert code == 0
    result = json.loads(out)
    assert result["status"] == "finished"
    assert result["parameters"] == 481
    assert result["errors"].keys() == {"u"}


def test_train_a_published_model_beside_the_published_error(run):
    code, out, _ = run(
        "train", "lame:II", "--model", "paper:evo-dpste-1", "--max-evaluations", "1", "--quiet"
    )
    assert code == 0
    assert "published 6.26e-06 ± 2.23e-06" in out
    assert "step-budget" in out


def test_train_and_search_agree_if_nothing_is_said(run):
    _, out, _ = run("train", "klein-gordon", "--max-evaluations", "1", "--json")
    trained = json.loads(out)
    assert Genome.parse(trained["genome"]) == Genome.parse(DEFAULT_GENOME)
    searched = Config.of({"problem": "klein-gordon"}).training_options()
    assert trained["optimizer"] == searched.optimizer
    defaults = {name: each.default for name, each in inspect.signature(train).parameters.items()}
    for name in ("precision", "engine", "errors_every", "device"):
        assert defaults[name] == getattr(searched, name)
    assert defaults["genome"] == DEFAULT_GENOME


def test_a_published_model_is_trained_as_in_the_paper(run):
    words = ("train", "klein-gordon", "--model", "paper:evo-dpste-1", "--max-evaluations", "1", "--json")
    _, out, _ = run(*words)
    assert json.loads(out)["optimizer"] == "lbfgs"
    _, out, _ = run(*words, "--optimizer", "adam")
    assert json.loads(out)["optimizer"] == "adam"


def test_a_model_of_another_problem_can_be_named(run):
    _, out, _ = run("train", "heat", "--model", "paper:lame/bo-fcnet-1", "--max-evaluations", "1", "--json")
    assert "swish" in json.loads(out)["genome"]


@pytest.mark.parametrize(
    "genome",
    [
        "layers=2 neurons=1 shortcuts=none activation=tanh(x)",
        "layers=12 neurons=80 shortcuts=0-3,5-6 activation=tanh(x)",
        "layers=3 neurons=7 shortcuts=none activation=a*sin(b*tanh(c*cos(asinh(exp(-x)+1))))+erf(d*x)*sin(x)",
    ],
)
def test_no_search_space_bounds_what_is_trained(run, own, genome):
    words = ("train", own, "--genome", genome, "--max-evaluations", "1", "--json")
    code, out, _ = run(*words)
    assert code == 0
    assert json.loads(out)["genome"] == genome
    code, _, err = run(*words, "--space", "layers=4-4 neurons=8-8")
    assert code == 2
    assert "layers" in err


def test_a_warning_comes_before_the_first_step(run, own):
    code, out, err = run("train", own, "--genome", "layers=4 neurons=30 activation=tanh(x)", "--epochs", "2")
    assert code == 0
    assert err.index("warning: ") < err.index("epoch 0")
    assert "warning" not in out
    words = ("train", own, "--genome", "layers=2 neurons=2 activation=tanh(x)", "--epochs", "1", "--json")
    _, out, err = run(*words)
    assert json.loads(out)["warnings"] == []
    assert "warning" not in err


def test_a_failed_training_has_an_exit_code_of_its_own(run, own):
    genome = "layers=11 neurons=50 activation=exp(exp(exp(x)))"
    code, out, _ = run("train", own, "--genome", genome, "--epochs", "3", "--json")
    assert code == 1
    assert json.loads(out)["loss"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "klein-gordn"], r"\bproblem .*'klein-gordn'.* klein-gordon\?"),
        (["train", "klein-gordon:IX"], r"\bklein-gordon .*'IX'.*\bI, II, III\b"),
        (["train", "nowhere.py"], r"\bfile nowhere\.py\b.*\bProblem\b"),
        (["train", "heat", "--model", "evo-dpste-1"], r"'evo-dpste-1' .*\bpaper:NAME\b"),
        (
            ["train", "heat", "--model", "paper:evo-dpste-1"],
            r"\bpaper:evo-dpste-1 .*\bpaper:\S+/evo-dpste-1\b",
        ),
        (["train", "heat", "--threads", "9999"], "cores"),
        (["train", "heat", "--genome", "layers=3 neurons=20 activation=SIN(x)"], "did you mean sin"),
        (["train", "heat", "--genome", "layers=3 neurons=20 activation=sin(π*x)"], "π is a number"),
        (["train", "lame", "--model", "paper:evo-dspte-1"], "did you mean evo-dpste-1"),
        (["train", "heat", "--model", "paper:x", "--genome", SMALL], "choose one"),
        (["train", "heat", "--genome", "layers=3 neurons=20 activation=tahn(x)"], "did you mean tanh"),
        (["train", "heat", "--genome", "layers=3 neurons=20 activation=tanh((x)"], "position"),
        (["train", "heat", "--genome", "layers=5 neurons=20 shortcuts=0-2,1-3 activation=x"], "0-2"),
        (["train", "heat", "--genome", "layers=1001 neurons=8 activation=x"], "at most 1,000 layers"),
        (["train", "heat", "--genome", "layers=1000 neurons=10000 activation=x"], "this machine has"),
        (["train", "heat", "--genome", SMALL, "--time-limit", "soon"], "'soon' is not a duration"),
        (["train", "heat", "--genome", SMALL, "--optimizer", "sgd"], "no optimizer called 'sgd'"),
        (
            ["train", "heat", "--genome", SMALL, "--optimizer", "lbfgs", "--rate", "-1"],
            r"LBFGS\(rate=-1.0\): it must be a positive",
        ),
        (["train", "heat", "--genome", SMALL, "--device", "warp"], "device"),
        (["models", "heat"], "There are models for klein-gordon, burgers, lame"),
        (["space", "--space", "layers=many"], "layers"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 2
    assert re.search(message, err)
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert out == ""


def test_a_name_that_cannot_be_saved_under_is_refused_before_the_training(run, own, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for name in (str(tmp_path / "file" / "model"), ""):
        code, out, err = run("train", own, "--genome", SMALL, "--epochs", "1", "--save", name)
        assert code == 2
        assert "saved" in err
        assert "epoch" not in err
        assert out == ""


def test_a_users_problem_is_not_taken_for_the_papers(run, own, tmp_path):
    path = tmp_path / "impostor.py"
    path.write_text(OWN_PROBLEM.replace("mine", "lame:I"))
    code, out, _ = run("train", str(path), "--epochs", "1")
    assert code == 0
    assert "published" not in out
    assert Genome.parse(DEFAULT_GENOME).text in out


def test_a_model_outside_the_given_space_is_refused(run):
    code, _, err = run("train", "lame", "--model", "paper:evo-dpste-1", "--space", "layers=3-4")
    assert code == 2
    assert re.search(r"\blayers=10\b.*\b3 to 4\b", err)


def test_text_in_brackets_is_shown_as_it_is(run, tmp_path):
    path = tmp_path / "brackets.py"
    path.write_text(OWN_PROBLEM.replace('"mine"', '"on [left] [0, 1]", title="[red]x"'))
    assert "on [left] [0, 1]: [red]x" in run("problems", str(path))[1]


def test_the_package_can_be_run(tmp_path):
    command = [sys.executable, "-m", "evopinn", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("evopinn ")


def test_the_version_is_told(run):
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("evopinn 0.")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_training_keeps_its_result(tmp_path, stop):
    command = [sys.executable, "-m", "evopinn", "train", "heat"]
    options = ["--genome", SMALL, "--epochs", "100000", "--json", "--save", str(tmp_path / "kept")]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, *options],
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=environment,
    ) as process:
        # The first line of progress says that the training is under way; lines come seconds apart.
        assert process.stderr.readline().startswith("epoch")
        time.sleep(2)
        process.send_signal(stop)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted"
    assert load(tmp_path / "kept").epochs > 0


def evopinn(*arguments, **options):
    command = [sys.executable, "-c", "from evopinn.cli import main; main()", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(command, check=False, text=True, env=environment, **options)


def test_a_training_goes_on_when_nobody_reads_its_progress(own, tmp_path):
    read, write = os.pipe()
    os.close(read)
    options = ("--genome", SMALL, "--epochs", "3", "--save", str(tmp_path / "kept"))
    ended = evopinn("train", own, *options, stdout=subprocess.PIPE, stderr=write)
    os.close(write)
    assert ended.returncode == 0
    assert "finished" in ended.stdout
    assert load(tmp_path / "kept").epochs == 3


def test_output_that_cannot_be_written_is_told_in_a_sentence():
    with Path("/dev/full").open("w") as full:
        ended = evopinn("models", "lame", stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.endswith(f": {os.strerror(errno.ENOSPC)}.\n")


def test_a_row_takes_one_line_in_a_pipe():
    ended = evopinn("models", "lame", stdout=subprocess.PIPE)
    (row,) = [line for line in ended.stdout.splitlines() if "paper:evo-dpste-3" in line]
    assert row.rstrip().endswith("activation=atan(a*swish(b*x))")


def test_the_time_limit_is_kept_by_the_clock(run):
    began = time.monotonic()
    _, out, _ = run("train", "heat", "--genome", SMALL, "--epochs", "1000000", "--time-limit", "2s", "--json")
    assert json.loads(out)["status"] == "time-limit"
    assert json.loads(out)["seconds"] < 2.5
    assert time.monotonic() - began < 10


def test_the_command_line_does_not_load_torch_before_it_is_needed():
    code = "import sys, evopinn.cli; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
