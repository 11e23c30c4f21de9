"""Configurations of searches: files of any contents and kind, tables with anything in them."""

import os

import pytest
from fuzzing import HUGE, LAW, PLAIN, TEXT, batch, joined, mutated, mutated_bytes, mutated_tree, tries
from hypothesis import given, note
from hypothesis import strategies as st

from evopinn.run.budget_plan import known_plan
from evopinn.run.config import Config, check_config_unchanged, parse_config, read_config
from evopinn.run.naming import request_digest, run_path
from evopinn.store.toml_text import toml_data

WHOLE = Config.of({"problem": "heat", "preset": "quick"}).spelled_out().toml()
SMALL = """problem = "heat"
method = "bo-fcnet"
seed = 7
space = "layers=3-5 neurons=20-30:2"
[trials]
evaluations = 20
epochs = 30
[settings]
faithful = true
kappa = 2.5
[training]
slowest = inf
[workers]
count = 2
"""
EPOCHS = 'problem = "lame"\nbudget = "30000 epochs"\n[settings]\nmutation = {layers = 0.5}\nelitists = 0.2\n'
SEEDS = (WHOLE, SMALL, EPOCHS)
TOKENS = (
    *(
        "problem",
        "method",
        "seed",
        "budget",
        "settings",
        "mutation",
        "workers",
        "count",
        "elitists",
        "schedule",
    ),
    *(
        " = ",
        "\n",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        '"',
        "'",
        "[[",
        "]]",
        '"heat"',
        "0.5",
        "1979-05-27",
        "0x10",
        "+inf",
    ),
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp037")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("config") / "mine.toml"


def take(values):
    """What a search does with a configuration before it begins."""
    config = Config.of(values, "mine.toml")
    text = config.spelled_out().toml()
    assert Config.of(toml_data(text)) == config.spelled_out()
    request_digest(config, 1.0)
    known_plan(config, config.workers.count or 1)


def read(file):
    take({"problem": "heat"} | read_config(file))


@tries(150, 1000)
@given(mutated(SEEDS) | mutated(SEEDS, TOKENS) | joined(TOKENS))
def test_a_file_is_read_or_refused(file, text):
    file.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    LAW.holds(read, file)


@tries(80, 500)
@given(st.one_of([mutated_bytes(SMALL.encode(encoding, "replace")) for encoding in ENCODINGS]) | st.binary())
def test_a_file_of_any_bytes_is_read_or_refused(file, content):
    file.write_bytes(content)
    LAW.holds(read, file)


def read_text(text):
    take({"problem": "heat"} | parse_config(text, "mine.toml"))


@tries(4, 260)
@given(st.integers(0, 2**32))
def test_many_texts_are_read_or_refused(seed):
    for text in batch(seed, SEEDS, TOKENS):
        note(text)
        LAW.holds(read_text, text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_encodings_are_read_or_refused(file, encoding):
    file.write_bytes(SMALL.replace("heat", "hät").encode(encoding, "replace"))
    LAW.holds(read, file)


@tries(150, 1000)
@given(st.sampled_from([toml_data(seed) for seed in SEEDS]).flatmap(mutated_tree))
def test_tables_with_anything_in_them_are_taken_or_refused(values):
    LAW.holds(take, values if isinstance(values, dict) else {"settings": values})


@tries(80, 500)
@given(st.dictionaries(st.sampled_from(list(Config.model_fields)) | TEXT, PLAIN, max_size=4))
def test_made_up_tables_are_taken_or_refused(values):
    LAW.holds(take, {"problem": "heat"} | values)


@pytest.mark.parametrize("huge", HUGE)
def test_too_much_of_something_is_refused_soon(file, huge):
    for text in (
        HUGE[huge],
        f"seed = {HUGE[huge]}",
        f'problem = "{HUGE[huge]}"',
        f"[settings]\na = {HUGE[huge]}",
    ):
        file.write_text(text)
        LAW.holds(read, file)


@tries(50, 300)
@given(mutated((WHOLE,)))
def test_a_file_beside_a_run_is_what_it_was_or_refused(tmp_path_factory, text):
    directory = tmp_path_factory.getbasetemp()
    (directory / "config.toml").write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    LAW.holds(check_config_unchanged, directory, WHOLE)


@tries(80, 500)
@given(TEXT | mutated(("my run", "runs/a", "../a", "/tmp/a")))
def test_a_name_of_a_run_is_taken_or_refused(name):
    LAW.holds(run_path, name)


def make_directory(path):
    path.mkdir()


def make_loop(path):
    path.symlink_to(path)


def make_nothing(path):
    """Leave no file there."""


def make_pipe(path):
    os.mkfifo(path)


def make_device(path):
    path.symlink_to("/dev/zero")


def make_own_memory(path):
    path.symlink_to("/proc/self/mem")


KINDS = (make_directory, make_loop, make_nothing, make_pipe, make_device, make_own_memory)


@pytest.mark.parametrize("make", KINDS)
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, make):
    path = tmp_path / "config.toml"
    make(path)
    refused = LAW.refused
    LAW.holds(read_config, path)
    LAW.holds(check_config_unchanged, tmp_path, WHOLE)
    assert LAW.refused == refused + (1 if make is make_nothing else 2)
