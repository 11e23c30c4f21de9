"""The peers compute what the engines do: only then is their time worth comparing."""

from dataclasses import replace

import numpy as np
import pytest

from evopinn.genome import OPERATORS
from evopinn.lab.bench.cases import CASES, Case
from evopinn.lab.bench.contestant_timing import TimedContestant
from evopinn.lab.bench.contestants import BASELINE, PEERS, make_contestant
from evopinn.lab.bench.isolation import CrashedError, Isolated
from evopinn.lab.bench.jax_network import load_jax, operators
from evopinn.lab.bench.peer_problems import EQUATIONS
from evopinn.problem import Grid

FEW = {
    "klein-gordon": Grid(interior=(6, 5), initial=7, boundary=10),
    "burgers": Grid(interior=(4, 4, 3), boundary=(12, 4)),
    "lame": Grid(interior=(12, 12), interior_at="nodes", boundary={"inner": 9, "outer": 17}),
}

# One a problem, with shortcuts, one over two layers, and parameters; shallow, since compiling takes time.
SMALL = [
    Case(
        "klein-gordon", "layers=3 neurons=8 shortcuts=0-2 activation=a*asinh(x)*cos(b*x)", FEW["klein-gordon"]
    ),
    Case("burgers", "layers=3 neurons=6 shortcuts=0-1,1-2 activation=a*sigmoid(b*x)", FEW["burgers"]),
    Case("lame", "layers=3 neurons=7 activation=x/(exp(x)+exp(-x))", FEW["lame"]),
]


def reference(case):
    engine = make_contestant("autograd", case.statement(), case.genome)
    return engine.evaluate(), engine.gradient()


def assert_same(case, loss, gradient):
    expected, slope = reference(case)
    assert loss == pytest.approx(expected, rel=1e-10)
    assert np.linalg.norm(gradient - slope) <= 1e-10 * np.linalg.norm(slope)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.problem} {case.network}")
def test_nested_autograd_is_the_same_on_all_networks_of_the_benchmark(case):
    few = replace(case, points=FEW[case.problem])
    peer = make_contestant(BASELINE, few.statement(), few.genome)
    peer.evaluate()
    assert_same(few, peer.evaluate(), peer.gradient())  # the second time: gradients do not pile up


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.problem)
def test_jax_is_the_same(case, monkeypatch):
    pytest.importorskip("jax")
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")  # compiles faster
    peer = make_contestant("JAX jit", case.statement(), case.genome)
    assert_same(case, peer.evaluate(), peer.gradient())


def test_jax_has_all_operators():
    pytest.importorskip("jax")
    assert operators(load_jax()).keys() == OPERATORS.keys()


def test_deepxde_is_the_same():
    pytest.importorskip("deepxde")
    with Isolated(TimedContestant, "DeepXDE") as process:  # it changes settings of torch
        for case in SMALL:
            process.call("prepare", case)
            assert_same(case, *process.call("values"))


def test_the_networks_cover_the_papers_problems_and_at_least_five_published_models():
    assert {f"{case.problem}:I" for case in CASES} == set(EQUATIONS)
    assert all(case.statement().name in EQUATIONS for case in CASES)
    assert sum(case.network.startswith("paper:") for case in CASES) >= 6
    assert {case.evolved for case in CASES} == {True, False}
    assert {case.label for case in CASES if not case.evolved} == {
        "9×50 tanh(x)",
        "bo-fcresnet-2: 6×22 tanh(a*x)",
        "bo-fcresnet-1: 9×50 tanh(a*x)",
    }


def test_a_process_measures_time_and_memory_and_a_crash_is_told(capfd):
    with Isolated(TimedContestant, "taylor") as process:
        assert process.call("prepare", SMALL[0]) > 0
        assert process.call("median", 3) > 0
        assert 0 < process.call("peak") < 500e6
        with pytest.raises(CrashedError, match="median"):
            process.call("median", 0)
    assert "StatisticsError" in capfd.readouterr().err


def test_peers_say_what_they_need():
    assert [peer.library for peer in PEERS.values()] == [None, "deepxde", "jax"]
