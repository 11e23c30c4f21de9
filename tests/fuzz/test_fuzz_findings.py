"""What fuzzing has found, each once more as a plain test."""

import json
import os
import sqlite3
import zlib
from contextlib import closing

import pytest
import torch
from safetensors.torch import save_file
from sound_run import make_run

from evopinn.errors import (
    DashboardError,
    GenomeError,
    GenomeSyntaxError,
    ProblemError,
    RunError,
    SearchError,
    StoredModelError,
    TrainingError,
    UnknownNameError,
)
from evopinn.genome import Activation, Genome, Space, Structure
from evopinn.problem import absolute_spec, load_problem
from evopinn.run.budget_plan import parse_budget
from evopinn.run.config import Config, parse_config, read_config
from evopinn.run.record import RunRecord
from evopinn.store.directory import DATABASE, runs_in
from evopinn.store.reader import Reader
from evopinn.training import find_optimiser, load, load_checkpoint, parse_duration, save, train
from evopinn.view.dashboard.server import serve
from evopinn.view.numbers import scientific

GENOME = "layers=3 neurons=2 activation=tanh(x)"


def numbered(value):
    """What tests are called by: some values are too long for a name, or cannot be written."""
    return value if isinstance(value, str) and len(value) < 30 else "-"


GIANT = 10**5000
"""A number that Python does not write."""


@pytest.mark.parametrize(
    "text", [f"layers=3-{'9' * 5000}", f"neurons=1-{'9' * 5000}", f"neurons=1-9:{'9' * 5000}"], ids=numbered
)
def test_a_range_with_thousands_of_digits_is_refused(text):
    with pytest.raises(GenomeSyntaxError, match=f"{text.split('=')[0]} .*20-50"):
        Space.parse(text)


@pytest.mark.parametrize(
    "text", ["layers=2-20000", "layers=2-999999999", "neurons=1-999999999"], ids=numbered
)
def test_a_space_that_takes_minutes_to_count_is_refused(text):
    with pytest.raises(GenomeError, match=r"2 .*\b1000\b|≤ 10000 "):
        Space.parse(text)


def test_the_size_of_a_large_space_is_printed(run):
    code, out, _ = run("space", "--space", "layers=2-1000")
    assert code == 0
    assert "e+4" in out
    assert scientific(10**400) == "1.00e+400"


@pytest.mark.parametrize(
    ("layers", "neurons"), [(1001, 2), (10**9, 2), (3, 10_001), (GIANT, 2), (3, GIANT)], ids=numbered
)
def test_a_network_that_fills_the_memory_is_refused(layers, neurons):
    with pytest.raises(GenomeError, match="at most"):
        Structure(layers, neurons)
    with pytest.raises(GenomeError, match="at most"):
        Genome.from_json(
            {"layers": layers, "neurons": neurons, "shortcuts": [], "activation": {"operator": "sin"}}
        )


@pytest.mark.parametrize("text", ["(" * 1_000_000, "x+" * 1_000_000, "a" * 10_000_000], ids=numbered)
def test_a_message_about_megabytes_is_short(text):
    with pytest.raises(GenomeSyntaxError, match="20,000 characters") as refused:
        Activation.parse(text)
    assert len(str(refused.value)) < 500
    assert len(str(UnknownNameError("problem", text, ["heat"]))) < 4200


def test_a_mistake_is_shown_without_what_acts_on_a_terminal():
    with pytest.raises(GenomeSyntaxError) as refused:
        Activation.parse("tanh(x)\x1b[31m\ud800\n+")
    assert str(refused.value).split("\n")[1:] == ["  tanh(x)\ufffd[31m\ufffd +", "         ^"]


@pytest.mark.parametrize(
    "given",
    ["9" * 400 + "s", "9" * 50 + "d", float("nan"), float("-inf"), 10**400, GIANT, True],
    ids=numbered,
)
def test_a_time_without_an_end_is_refused(given):
    with pytest.raises(TrainingError, match="20s"):
        parse_duration(given)


@pytest.mark.parametrize("text", ["9" * 5000 + " epochs", "9" * 40 + " trainings"], ids=numbered)
def test_a_budget_with_thousands_of_digits_is_refused(text):
    with pytest.raises(SearchError, match=f"budget .*{10**15:,}"):
        parse_budget(text)


@pytest.mark.parametrize("option", ["epochs", "seed", "errors_every", "max_evaluations"], ids=numbered)
@pytest.mark.parametrize("number", [10**400, GIANT], ids=numbered)
def test_a_training_with_giant_numbers_is_refused(oscillator, option, number):
    with pytest.raises(TrainingError, match=rf"^{option} is .* \d+(,\d+)+\.$"):
        train(oscillator, GENOME, **({"epochs": 1} | {option: number}))


def test_a_stage_with_thousands_of_digits_is_refused():
    with pytest.raises(TrainingError, match=r"optimizer .*adam:500"):
        find_optimiser(f"adam:{'9' * 5000}+lm")


@pytest.mark.parametrize(
    "text",
    [
        "seed = " + "9" * 10_000,
        "seed = 0x" + "f" * 10_000,
        "a = " + "[" * 100_000,
        "a = " + "{b=" * 50_000,
        "a" * 2_000_000,
    ],
    ids=numbered,
)
def test_toml_that_breaks_its_reader_is_refused(text):
    with pytest.raises(SearchError, match=r"^mine .*TOML"):
        parse_config(text, "mine")


@pytest.mark.parametrize("entry", ["seed", "trials"], ids=numbered)
def test_a_configuration_with_giant_numbers_is_refused(entry):
    value = {"evaluations": GIANT, "epochs": 1} if entry == "trials" else GIANT
    with pytest.raises(SearchError, match=r"\bdigits\b"):
        Config.of({"problem": "heat", "method": "bo-fcnet", entry: value})


def test_a_schedule_of_giant_numbers_is_refused(run):
    code, _, err = run(
        "search", "heat", "--print-config", "--populations", f"{'9' * 4000},5", "--epochs", "1,2"
    )
    assert code == 2
    assert "population" in err
    assert "10,000,000" in err


def test_a_configuration_that_is_a_pipe_or_a_device_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "device"):
        if not path.exists():
            path.symlink_to("/dev/zero")
        with pytest.raises(SearchError, match=rf"{path.name} .*\bfile\b"):
            read_config(path)


def test_a_file_with_a_mark_of_its_encoding_is_read(tmp_path):
    (tmp_path / "mine.toml").write_text("seed = 3", encoding="utf-8-sig")
    assert read_config(tmp_path / "mine.toml") == {"seed": 3}


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "\ud800"], ids=numbered)
def test_names_that_no_file_can_have_are_refused(tmp_path, name):
    with pytest.raises(ProblemError, match=r"\bfile .*\.py\b.*\bProblem\b"):
        load_problem(absolute_spec(f"{name}.py"))
    with pytest.raises(StoredModelError, match=r"\bfile .*\.(safetensors|json)\b"):
        load(tmp_path / name)
    with pytest.raises(RunError, match="cannot be"):
        runs_in(tmp_path / name)


def test_a_problem_whose_file_is_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "loop.py").symlink_to("loop.py")
    with pytest.raises(ProblemError, match=r"\bfile .*\bloop\.py\b"):
        load_problem(absolute_spec(str(tmp_path / "loop.py")))


def test_a_host_that_cannot_be_one_is_told(tmp_path):
    for host in ("\ud800", "x" * 300):
        with pytest.raises(DashboardError, match="host"):
            serve(tmp_path, host, 0, lambda *_: None)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(
            ("errors", []),
            ("errors", {"u": 10**400}),
            ("epochs", "many"),
            ("status", "unheard of"),
            ("seed", -1),
        ),
        *(("coordinates", []), ("history", {}), ("settings", None), ("loss", {}), ("fields", "u")),
    ],
    ids=numbered,
)
def test_a_sidecar_with_something_else_in_it_is_refused(oscillator, tmp_path, place, value):
    _, sidecar = save(train(oscillator, GENOME, epochs=0), tmp_path / "model")
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {place: value}))
    with pytest.raises(StoredModelError, match=rf"model\.json .*damaged: {place}\b"):
        load(tmp_path / "model")


def test_a_checkpoint_that_lacks_something_is_refused(tmp_path):
    path = tmp_path / "state.safetensors"
    for tensors in ({"losses": torch.zeros(1)}, {"best.theta": torch.zeros(1, dtype=torch.bfloat16)}):
        words = {"format": "2", "genome": GENOME, "digest": ""}
        for metadata in (words, words | {"optimizer": "lm"}):
            save_file(tensors, path, metadata)
            with pytest.raises(StoredModelError, match=r"checkpoint|damaged"):
                load_checkpoint(path)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM run", r"/run: .*\bdatabase\b.*\bdamaged\b"),
        ("UPDATE run SET created = 9e999", r"/run: .*\bdatabase\b.*\bdamaged\b"),
        (
            "UPDATE run SET config = 'seed = 0x' || replace(hex(zeroblob(5000)), '00', 'ff')",
            r"/run: .*\bconfiguration\b.*\bTOML\b",
        ),
        ("UPDATE evaluations SET errors = '[]'", r"/run: .*\bdatabase\b.*\bdamaged\b"),
        ("UPDATE evaluations SET ended = 9e300", r"/run: .*\bdatabase\b.*\bdamaged\b"),
        ("UPDATE evaluations SET status = x'00'", r"/run: .*\bdatabase\b.*\bdamaged\b"),
        (
            "UPDATE tasks SET operations = replace(hex(zeroblob(50000)), '00', '[')",
            r"/run: .*\bdatabase\b.*\bdamaged\b",
        ),
    ],
    ids=numbered,
)
def test_a_record_with_something_else_in_it_is_told(tmp_path, statement, message):
    make_run(tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as connection:
        connection.executescript(statement)
    with pytest.raises(RunError, match=message):
        RunRecord.read(tmp_path / "run")


def test_a_course_that_stands_for_a_disk_full_is_refused(tmp_path):
    make_run(tmp_path / "run")
    bomb = zlib.compress(bytes(2**29), 9)
    with closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as connection:
        connection.execute("UPDATE histories SET numbers = ?", (bomb,))
        connection.commit()
    with Reader(tmp_path / "run") as reader, pytest.raises(RunError, match=r"damaged.*ValueError"):
        reader.history(0)
