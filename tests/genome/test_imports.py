"""What the import of genomes and searches loads."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "scipy", "optuna", "pandas", "matplotlib")
LOADED = """
import importlib, pkgutil, sys

package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if module.name != "evopinn.genome.derivatives":
        importlib.import_module(module.name)
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""


@pytest.mark.parametrize("package", ["evopinn.genome", "evopinn.search"])
def test_text_and_planning_load_no_numerics(package: str) -> None:
    process = [sys.executable, "-c", LOADED, package, *HEAVY]
    loaded = subprocess.run(process, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []
