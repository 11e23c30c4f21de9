"""A binary operator is one row: added to a copy of the package, it is everywhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
USED = r"""
import torch

import evopinn as ep
from evopinn.engine import ENGINES

text = "a*damped(b*sin(x), c*damped(x, tanh(d*x)))"
activation = ep.Activation.parse(text)
assert activation.text == text
assert activation.latex() == (
    r"\alpha \cdot \operatorname{damped}(\beta \cdot \sin(x), "
    r"\gamma \cdot \operatorname{damped}(x, \tanh(\delta \cdot x)))"
)
x = torch.linspace(-1, 1, 5, dtype=torch.float64)
inner = x / (1 + torch.tanh(x) ** 2)
assert torch.allclose(activation(x, torch.ones(4, dtype=torch.float64)), torch.sin(x) / (1 + inner**2))

problem = ep.find_problem("burgers-1d")
genome = ep.Genome.parse(f"layers=4 neurons=12 activation={text}")
losses, gradients = [], []
for make in ENGINES.values():
    engine = make(problem, genome)
    loss, gradient = engine.loss_and_gradient(engine.layout.initial(0))
    losses.append(loss)
    gradients.append(gradient)
for loss, gradient in zip(losses[1:], gradients[1:], strict=True):
    assert abs(loss - losses[0]) <= 1e-10 * losses[0]
    assert (gradient - gradients[0]).norm() <= 1e-10 * gradients[0].norm()

result = ep.train(problem, genome, epochs=20)
assert result.loss < losses[0]
ep.figures.tree(genome)
"""


def test_the_row_of_the_documentation_is_enough(tmp_path):
    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^row = (named_binary\(.*\))$", page, re.MULTILINE)
    shutil.copytree(ROOT / "src/evopinn", tmp_path / "evopinn", ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "evopinn/genome/operators.py"
    source = table.read_text(encoding="utf-8")
    last = next(line for line in source.splitlines() if line.strip().startswith('named("min"'))
    table.write_text(source.replace(last, f"{last}\n        {row},"), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "EVOPINN_CACHE": str(tmp_path / "kernels")}
    process = [sys.executable, "-c", USED]
    done = subprocess.run(process, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
