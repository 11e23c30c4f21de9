"""How the commands that search end: what they print, and their exit codes. Nothing is trained here."""

from pathlib import Path

import pytest

from evopinn.errors import RunError
from evopinn.run.snapshot import Snapshot
from evopinn.run.store import Store

CONFIG = 'problem = "/home/me/[/b]p.py"\nmethod = "random"\nseed = 7\n'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def resumed(run, monkeypatch):
    """Resume a run by something that stands for the search: exit code, standard output, standard error."""

    def resumed(go_on, directory="my run"):
        if not Path(directory).exists():
            Store.create(directory, CONFIG, {}).close()
        monkeypatch.setattr("evopinn.run.session.go_on", go_on)
        return run("resume", directory, "--quiet")

    return resumed


def test_a_path_with_brackets_is_printed_as_it_is(resumed):
    code, out, _ = resumed(lambda *_, **__: True)
    assert out == "/home/me/[/b]p.py, random, seed 7: stopped\nnothing is recorded yet\n"
    assert code == 1  # nothing was found


def test_the_command_that_goes_on_can_be_pasted(resumed):
    code, _, err = resumed(lambda *_, **__: False)
    assert (code, err) == (130, "stopped; go on with: evopinn resume 'my run'\n")
    assert resumed(lambda *_, **__: False, "runs/short")[2] == "stopped; go on with: evopinn resume short\n"


def test_what_is_refused_is_a_mistake_and_what_goes_wrong_later_a_failure(resumed):
    def refused(*_, **__):
        raise RunError("it is in use.")

    def failed(directory, audience, **_):
        audience.watch(Snapshot(directory, "heat", "random", "starting"))
        raise RunError("the disk is full.")

    assert resumed(refused) == (2, "", "error: it is in use.\n")
    assert resumed(failed) == (1, "", "error: the disk is full.\n")


def test_workers_that_cannot_start_are_a_failure(run, monkeypatch):
    def unable(*_, **__):
        raise RunError("a worker process could not be started: no memory.")

    monkeypatch.setattr("evopinn.run.session.Workers", unable)
    code, _, err = run("search", "heat", "--populations", "2", "--epochs", "1", "--quiet")
    assert (code, err) == (1, "error: a worker process could not be started: no memory.\n")
    assert not list(Path().glob("runs/*"))
