"""Keys, on real terminals: pseudo-terminals whose other end the test holds."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console
from snapshots import SECONDS, eventually, make_snapshot

from evopinn.view.terminal.live import search_progress


@pytest.fixture
def terminal(monkeypatch):
    """The user's end and the program's end, which is standard input."""
    user, program = pty.openpty()
    with os.fdopen(program, closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield user, program
    os.close(program)
    os.close(user)


def screen():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def is_set_up(program):
    return not termios.tcgetattr(program)[3] & (termios.ICANON | termios.ECHO)


@pytest.mark.parametrize("key", [b"q", b"Q"])
def test_q_stops_the_search_once(terminal, key):
    user, program = terminal
    found = termios.tcgetattr(program)
    asked = []
    console = screen()

    def stop():
        asked.append((threading.current_thread(), signal.pthread_sigmask(signal.SIG_BLOCK, ())))

    with search_progress(console, stop) as show:
        show(make_snapshot())
        eventually(lambda: is_set_up(program))
        os.write(user, b"xyz\n\xff" + key)
        eventually(lambda: asked)
        eventually(lambda: "stopping; nothing is lost" in console.file.getvalue())
        os.write(user, key)
        eventually(lambda: not select.select([program], [], [], 0)[0])
    ((thread, blocked),) = asked
    assert not thread.is_alive()
    assert {signal.SIGTTIN, signal.SIGTTOU, signal.SIGINT, signal.SIGTERM} <= blocked
    assert termios.tcgetattr(program) == found


def test_other_keys_do_nothing_and_are_not_echoed(terminal):
    user, program = terminal
    asked = []
    with search_progress(screen(), lambda: asked.append(True)) as show:
        show(make_snapshot())
        eventually(lambda: is_set_up(program))
        os.write(user, b"abc\x1b[A\x04 ")
        eventually(lambda: not select.select([program], [], [], 0)[0])
    assert not asked
    assert not select.select([user], [], [], 0)[0]


def test_the_terminal_is_as_before_after_an_exception(terminal):
    _, program = terminal
    found = termios.tcgetattr(program)

    def searching():
        with search_progress(screen(), lambda: None):
            eventually(lambda: is_set_up(program))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        searching()
    assert termios.tcgetattr(program) == found


@pytest.mark.parametrize(("console", "keys"), [(screen(), False), (Console(file=io.StringIO()), True)])
def test_without_keys_or_without_a_screen_the_terminal_is_left_alone(terminal, console, keys):
    user, program = terminal
    os.write(user, b"q\n")
    asked = []
    with search_progress(console, lambda: asked.append(True), keys=keys) as show:
        show(make_snapshot())
        time.sleep(0.3)
        assert not is_set_up(program)
    assert os.read(program, 10) == b"q\n"
    assert not asked


def test_a_terminal_that_is_closed_ends_the_screen_and_not_the_search(monkeypatch):
    user, program = pty.openpty()
    before = threading.active_count()
    with os.fdopen(program) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with search_progress(screen(), lambda: None) as show:
            show(make_snapshot())
            eventually(lambda: is_set_up(program))
            os.close(user)
            eventually(lambda: threading.active_count() == before)
            show(make_snapshot())


@pytest.mark.parametrize("stdin", [None, io.StringIO("q")])
def test_a_standard_input_that_is_no_terminal_has_no_keys(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    asked = []
    console = screen()
    with search_progress(console, lambda: asked.append(True)) as show:
        show(make_snapshot())
        eventually(lambda: "Ctrl-C stops" in console.file.getvalue())
    assert "q or" not in console.file.getvalue()
    assert not asked


class Session:
    """A process that has a terminal to itself."""

    def __init__(self, *command, seconds):
        self._user, self.program = pty.openpty()
        self.found = termios.tcgetattr(self.program)
        here = Path(__file__).parent
        self.process = subprocess.Popen(
            [sys.executable, here / "searching.py", *command],
            stdin=self.program,
            stdout=self.program,
            stderr=self.program,
            start_new_session=True,
            env=os.environ | {"SEARCH_SECONDS": str(seconds), "TERM": "xterm", "OMP_NUM_THREADS": "1"},
        )
        self.output = ""

    def press(self, keys):
        os.write(self._user, keys)

    def read_until(self, text):
        until = time.monotonic() + SECONDS
        while text not in self.output:
            assert select.select([self._user], [], [], max(0, until - time.monotonic()))[0], self.output
            self.output += os.read(self._user, 65536).decode(errors="replace")

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.program)
        os.close(self._user)


@contextmanager
def session(*command, seconds=SECONDS):
    made = Session(*command, seconds=seconds)
    try:
        yield made
    finally:
        made.end()


@pytest.mark.parametrize(
    ("act", "last_words"),
    [
        (lambda search: search.press(b"q"), "stopped: 92 trained of 320"),
        (lambda search: search.press(b"\x03"), "interrupted"),
        (lambda search: search.process.send_signal(signal.SIGTERM), "terminated"),
    ],
    ids=["q", "Ctrl-C", "SIGTERM"],
)
def test_however_a_search_ends_its_terminal_is_as_before(act, last_words):
    with session("search") as search:
        search.read_until("q or Ctrl-C stops")
        assert is_set_up(search.program)
        act(search)
        search.read_until(last_words)
        search.process.wait(SECONDS)
        assert termios.tcgetattr(search.program) == search.found


def test_in_the_background_keys_belong_to_the_shell_and_nothing_is_drawn():
    with session("background", "search", seconds=2) as shell:
        shell.press(b"q typed for the shell\n")
        shell.read_until("finished: 92 trained")
        shell.read_until("for the shell: q typed for the shell")
        assert "in all" not in shell.output
        assert termios.tcgetattr(shell.program) == shell.found


def test_a_process_put_into_the_background_in_a_bad_moment_is_not_stopped_and_takes_no_key():
    with session("background", "touch") as shell:
        shell.press(b"q\n")
        shell.read_until("pressed: ''")
        shell.read_until("for the shell: q")
