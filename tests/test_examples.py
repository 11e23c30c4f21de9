"""The examples: each runs as a user runs it, and what it prints is right."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from evopinn.genome import Genome, Space

EXAMPLES = Path(__file__).parent.parent / "examples"


def _errors(output: str) -> list[float]:
    """The numbers behind the word error, to the end of the line."""
    return [float(number) for number in re.findall(r"error.*?(\d\.\de[-+]\d\d)$", output, re.MULTILINE)]


def _acoustics(output: str) -> None:
    errors = _errors(output)
    assert len(errors) == 2
    assert max(errors) < 0.15
    p, v = map(float, re.findall(r"-?\d\.\d*", output.splitlines()[-1]))
    assert abs(p) < 0.1
    assert abs(v - 1) < 0.1


def _measured_data(output: str) -> None:
    (error,) = _errors(output)
    assert error < 0.1


def _periodic_convection(output: str) -> None:
    errors = _errors(output)
    assert [int(n) for n in re.findall(r"after +(\d+)", output)] == [0, 50, 100, 150, 200]
    assert errors[0] > 0.5
    assert errors[-1] < 0.1


def _poisson_with_hole(output: str) -> None:
    assert re.search(r"^residual +1392 points +weight 1$", output, re.MULTILINE)
    assert re.search(r"^boundary \(hole\) +38 points +weight 10$", output, re.MULTILINE)
    (error,) = _errors(output)
    assert error < 0.02


def _save_and_load(output: str) -> None:
    assert re.search(r"\bheat\.safetensors\b.*\bheat\.json\b", output)
    assert re.search(r"\bloading: True$", output, re.M)
    # u = exp(-a π² t) sin(πx), a = 0.4: u_x = 0 in the middle, u_t = -a π² u.
    expected = [-0.4 * math.pi**2 * math.exp(-0.4 * math.pi**2 * t) for t in (0.1, 0.2)]
    x_1, t_1, x_2, t_2 = map(float, re.findall(r"-?\d+\.\d+", output.partition("there:")[2])[:4])
    assert (t_1, t_2) == pytest.approx(expected, rel=0.1)
    assert max(abs(x_1), abs(x_2)) < 0.2
    assert r"\alpha \cdot \tanh(\beta \cdot x) \cdot \cos(x)" in output


def _search_and_compare(output: str) -> None:
    assert output.startswith("heat, evo-dpste, seed 0: finished\n")
    assert re.search(r"\bmeans of 3 trainings\b", output)
    (recommended,) = re.findall(r"^recommended architecture +(layers=.*?) *$", output, re.M)
    assert re.search(r"^mean of 3 +loss \S+, error \S+ \(geometric\)", output, re.M)
    assert f"  {recommended}\nby hand" in output
    rows = re.findall(r"^(found|by hand) +loss (\S+)  error (\S+)  (layers=.*)$", output, re.M)
    assert [row[0] for row in rows] == ["found", "by hand"]
    for _, loss, error, genome in rows:
        assert 0 < float(loss) < 100
        assert 0 < float(error) < 100
        Genome.parse(genome, Space.parse("layers=3-7 neurons=8-24:2"))


def _walk_the_space(output: str) -> None:
    space = Space.parse("layers=3-6 neurons=20-30:2")
    genomes = [
        Genome.parse(text, space) for text in re.findall(r": (layers=.* activation=.*)$", output, re.M)
    ]
    mother, father, child, sibling, *mutants = genomes
    assert child == Genome(mother.structure, father.activation)
    assert sibling == Genome(father.structure, mother.activation)
    assert len(mutants) == 6
    assert len(set(mutants)) > 1
    assert output.splitlines()[-1].endswith(mutants[-1].key)


CHECKS: Mapping[str, Callable[[str], None]] = {
    "acoustics": _acoustics,
    "measured_data": _measured_data,
    "periodic_convection": _periodic_convection,
    "poisson_with_hole": _poisson_with_hole,
    "save_and_load": _save_and_load,
    "search_and_compare": _search_and_compare,
    "walk_the_space": _walk_the_space,
}


def test_each_example_has_a_check() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_example(name: str, tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    CHECKS[name](finished.stdout)
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"


def test_a_search_that_is_stopped_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "search_and_compare.py"), "heat", "1000 trainings"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    try:
        last = time.monotonic() + 180
        while not list(tmp_path.glob("runs/heat-*/run.sqlite")):
            assert time.monotonic() < last, "no run has started"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
    (run,) = tmp_path.glob("runs/*")
    assert (process.returncode, out) == (130, "")
    assert err.endswith(f": evopinn resume {run.relative_to(tmp_path)}\n")
