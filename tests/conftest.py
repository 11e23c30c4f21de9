import os
import signal
import sys

import pytest
import torch

from evopinn.problem import Boundary, Grid, Initial, Interval, Problem, Time

# There are several files of this name, which `--doctest-modules` would import as one.
collect_ignore_glob = ["*conftest.py"]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tests run side by side, one process a core."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def signals_of_a_terminal() -> None:
    """Let the commands that tests start heed Ctrl-C and a hangup even where the tests themselves ignore them.

    A shell that starts the tests in the background, and `nohup`, make them ignore these signals, and child
    processes inherit that. They do not inherit a handler, and this one too leaves the tests running.
    """
    for each in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(each) is signal.SIG_IGN:
            signal.signal(each, lambda number, frame: None)


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled kernels are kept for this run only, and all workers share them."""
    shared = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else None
    os.environ["EVOPINN_CACHE"] = str((shared or tmp_path_factory.getbasetemp()) / "kernels")


@pytest.fixture(scope="session")
def oscillator() -> Problem:
    """u'' + u = 0 with u = cos t: the cheapest problem with a known solution."""
    return Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx + u,
        conditions=[Boundary(lambda u, x: u - torch.cos(x), weight=10)],
        scale=False,
        points=Grid(interior=20, boundary=2, test=21),
        solution=lambda x: 1 * torch.cos(x),
        name="oscillator",
    )


@pytest.fixture(scope="session")
def transport() -> Problem:
    """u_t + u_x = 0 with u = sin(x − t): space and time, initial and boundary conditions."""
    return Problem(
        domain=Interval(0, 1) * Time(0, 1),
        fields=["u"],
        residual=lambda u, x, t: u.t + u.x,
        conditions=[
            Initial(lambda u, x: u - torch.sin(x)),
            Boundary(lambda u, t: u + torch.sin(t), on="left"),
        ],
        scale=False,
        points=Grid(interior=(8, 8), initial=9, boundary=18, test=(11, 11)),
        solution=lambda x, t: torch.sin(x - t),
        name="transport",
    )


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process: exit code, standard output, standard error."""
    from evopinn import cli

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["evopinn", *arguments])
        monkeypatch.setenv("COLUMNS", "200")
        handler = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            signal.signal(signal.SIGTERM, handler)
        output = capsys.readouterr()
        return ended.value.code or 0, output.out, output.err

    return run
