"""On a system that is not POSIX everything works but searching, which says so."""

import subprocess
import sys

import pytest

# What Windows has not.
BARE = """
import signal, sys
for name in ("fcntl", "termios", "tty", "resource", "pwd", "grp"):
    sys.modules[name] = None
del signal.SIGHUP, signal.pthread_sigmask
"""
NETWORK = "layers=2 neurons=20 activation=tanh(x)"


def bare(program, directory):
    """What a program prints there: exit code, standard output, standard error."""
    ended = subprocess.run(
        [sys.executable, "-c", BARE + program], capture_output=True, text=True, check=False, cwd=directory
    )
    return ended.returncode, ended.stdout, ended.stderr


def command(*arguments):
    return f"sys.argv = ['evopinn', *{arguments!r}]\nfrom evopinn.cli import main\nmain()\n"


def test_networks_are_trained_saved_and_loaded(tmp_path):
    program = f"""
import evopinn as ep
ep.save(ep.train("heat", "{NETWORK}", epochs=1, optimizer="lbfgs", engine="autograd"), "heat")
print(ep.load("heat").genome)
"""
    assert bare(program, tmp_path) == (0, f"{NETWORK.replace(' act', ' shortcuts=none act')}\n", "")


@pytest.mark.parametrize("arguments", [["problems"], ["runs", "--json"]])
def test_commands_work(tmp_path, arguments):
    code, out, err = bare(command(*arguments), tmp_path)
    assert (code, err) == (0, "")
    assert out


def test_a_search_is_refused(tmp_path):
    code, _, err = bare(command("search", "heat", "--budget", "10m"), tmp_path)
    assert code == 2
    assert err.startswith("error: ")
    assert all(name in err for name in ("POSIX", "Linux", "macOS", "WSL"))
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_copied_there_is_read(tmp_path):
    from evopinn.store.store import Store

    Store.create(tmp_path / "mine", 'problem = "heat"\n', {}).close()
    code, out, err = bare(command("show", "mine"), tmp_path)
    assert (code, err) == (0, "")
    assert "stopped" in out
