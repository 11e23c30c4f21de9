"""What workers are told to do in these tests."""

import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path


def doubler():
    return lambda payload: 2 * payload


def adder(amount):
    return lambda payload: payload + amount


def failing_setup():
    raise ValueError("no such problem")


def dying_setup():
    os.kill(os.getpid(), signal.SIGKILL)


def slow_setup(seconds):
    time.sleep(seconds)
    return doubler()


def misbehaving():
    """Do what the payload's first word says; the second is a directory in which attempts leave marks."""
    return lambda payload: ACTS[payload[0]](*payload[1:])


def _first_time(mark):
    path = Path(mark)
    if path.exists():
        return False
    path.touch()
    return True


def once(act, mark, *arguments):
    """Misbehave in the first attempt only."""
    return ACTS[act](*arguments) if _first_time(mark) else "well"


def segfault():
    os.kill(os.getpid(), signal.SIGSEGV)


def wild_pointer():
    ctypes.string_at(8)


def hang():
    time.sleep(1000)


def hold():
    """Hang and let no other thread of Python run."""
    ctypes.PyDLL(None).sleep(1000)


def leave():
    os._exit(7)


def eat():
    pieces = []
    while True:
        pieces.append(bytearray(os.urandom(1 << 16)) * 256)
        time.sleep(0.005)


def gulp():
    return len(bytearray(1 << 40))


def fill_gpu():
    """Say what torch says when a GPU has no more memory to give."""
    import torch

    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has 8 GiB.")


def raise_it():
    raise ZeroDivisionError("by zero, of course")


def exit_politely():
    sys.exit("enough")


def garbage():
    """Write what is no message over the private connection."""
    channel = int(sys.argv[1])
    os.write(channel, b"\xff" * 64)
    time.sleep(1000)


def half_a_message():
    """Announce a thousand bytes, send ten and stop."""
    os.write(int(sys.argv[1]), (1000).to_bytes(8, "little") + b"0123456789")
    time.sleep(1000)


def no_pickle():
    os.write(int(sys.argv[1]), (10).to_bytes(8, "little") + b"0123456789")
    time.sleep(1000)


def unpicklable():
    return threading.Lock()


def nonsense():
    return "nonsense"


def chatter():
    for number in range(400_000):
        print(f"line {number} of a residual that prints")  # noqa: T201 - what a user's residual may do
    sys.stdout.flush()
    time.sleep(0.5)  # the driver looks a few times a second
    return "well"


def environment():
    import torch

    parent_signals = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return torch.get_num_threads(), os.environ["OMP_NUM_THREADS"], parent_signals


def meet(directory, count):
    """Wait until so many processes are here, so that none does the work of another.

    Returns:
        The GPUs of the first so many, who were here at the same time, and the GPU of this one.
    """
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES")
    own = Path(directory) / f"{os.getpid()}.here"
    if not own.exists():
        own.with_suffix(".coming").write_text(gpu)
        own.with_suffix(".coming").rename(own)
    while (
        len(here := sorted(Path(directory).glob("*.here"), key=lambda path: path.stat().st_mtime_ns)) < count
    ):
        time.sleep(0.05)
    return [path.read_text() for path in here[:count]], gpu


def payload_size(data):
    return len(data)


def large(count):
    return bytes(count)


def process_id(seconds=0.0):
    time.sleep(seconds)
    return os.getpid()


ACTS = {
    act.__name__: act
    for act in (
        once,
        segfault,
        wild_pointer,
        hang,
        hold,
        leave,
        eat,
        gulp,
        fill_gpu,
        raise_it,
        exit_politely,
        garbage,
        half_a_message,
        no_pickle,
        unpicklable,
        nonsense,
        chatter,
        environment,
        meet,
        payload_size,
        large,
        process_id,
    )
}
