"""What a request to stop does: it breaks off what has only begun, and is waited for by what has not."""

import signal
import threading
import time

import pytest

from evopinn.run.stopping import StopRequest

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def _as_from_a_terminal():
    """Signals as a person's shell leaves them, however the tests were started."""
    before = {each: signal.signal(each, signal.default_int_handler) for each in SIGNALS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize("request_to_end", SIGNALS)
def test_a_signal_leaves_a_block_in_which_nobody_has_looked_yet(request_to_end):
    before = signal.getsignal(request_to_end)
    with StopRequest() as stop:
        signal.raise_signal(request_to_end)
        pytest.fail("it went on")
    assert stop()
    assert signal.getsignal(request_to_end) is before


@pytest.mark.parametrize("ignored", SIGNALS)
def test_what_is_ignored_stays_so(ignored):
    """A run under nohup outlives its terminal."""
    signal.signal(ignored, signal.SIG_IGN)
    with StopRequest() as stop:
        signal.raise_signal(ignored)
        assert not stop()
    assert signal.getsignal(ignored) is signal.SIG_IGN


def test_once_somebody_looks_a_signal_breaks_off_nothing():
    with StopRequest() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert stop()
        with pytest.raises(KeyboardInterrupt):  # impatience is understood
            signal.raise_signal(signal.SIGINT)


def test_what_is_cleaned_up_is_not_broken_off_again():
    cleaned = []
    with StopRequest():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            cleaned.append(True)
    assert cleaned


@pytest.mark.parametrize("looked", [False, True])
def test_a_key_that_another_thread_has_seen_does_the_same_as_ctrl_c(looked):
    with StopRequest() as stop:
        assert not (looked and stop())
        pressed = threading.Timer(0.05, stop.ask)
        pressed.start()
        since = time.monotonic()
        while time.monotonic() < since + 20 and not (looked and stop()):
            time.sleep(0.02 if looked else 20)
    assert stop()
    assert time.monotonic() < since + 10


def test_in_another_thread_no_signal_is_taken():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def enter():
        with StopRequest() as stop:
            seen.append(signal.getsignal(signal.SIGINT) is before)
            stop.ask()
            seen.append(stop())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [True, True]
