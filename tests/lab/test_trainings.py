"""The script that trains networks for equal time: what it writes, and that it goes on where it was."""

import csv
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXPERIMENT = """
seconds = 1.0
seeds = [0, 1]

[targets]
"heat" = 1.0

[[networks]]
name = "small"
genome = "layers=3 neurons=6 activation=tanh(x)"
cases = ["heat"]
"""


def run(file: Path, results: Path, *options: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / "trainings.py"), str(file), "--workers", "1"]
    command += ["--results", str(results), *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def test_rows_that_are_there_are_not_trained_again(tmp_path):
    file = tmp_path / "study" / "heat.toml"
    file.parent.mkdir()
    file.write_text(EXPERIMENT)
    run(file, tmp_path)
    result = tmp_path / "study-heat.csv"
    first, second = rows(result)
    assert {first["seed"], second["seed"]} == {"0", "1"}
    assert all(float(row["error"]) < 1.0 and float(row["reached"]) <= 1.0 for row in (first, second))
    whole = result.read_text()

    result.write_text("".join(whole.splitlines(keepends=True)[:2]))  # as if it had been cut off
    kept = result.read_text()
    run(file, tmp_path)
    assert result.read_text().startswith(kept)
    assert len(rows(result)) == 2

    before = result.read_text()
    table = run(file, tmp_path, "--table")
    assert "| heat | small |" in table
    assert result.read_text() == before


def test_the_experiments_of_this_project_can_be_read():
    import tomllib

    from evopinn.catalogue import problem
    from evopinn.genome import Genome

    files = sorted((ROOT / "experiments" / "second-order").glob("*.toml"))
    assert files
    for file in files:
        for network in tomllib.loads(file.read_text())["networks"]:
            if not network["genome"].startswith("paper:"):
                assert Genome.parse(network["genome"]).text
            assert all(problem(case).name for case in network["cases"])
