"""Commands for a glance start at once: they load no numerics, and what is late is late for a reason."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evopinn
from evopinn.run.config import Config
from evopinn.store.store import Store

ROOT = Path(evopinn.__file__).parent
HEAVY = (
    "torch",
    "scipy",
    "matplotlib",
    "optuna",
    "ray",
    "fastapi",
    "uvicorn",
    "jinja2",
    "sympy",
    "llvmlite",
    "shapely",
    "pandas",
)
GLANCES = (
    ("--help",),
    ("problems",),
    ("models",),
    ("models", "lame", "--json"),
    ("space",),
    ("runs",),
    ("runs", "--json"),
    ("show", "begun"),
    ("show", "begun", "--json"),
    ("search", "--help"),
    ("train", "--help"),
    ("compare", "--help"),
    ("plot", "--help"),
)
LOADED = """
import sys
heavy, sys.argv = sys.argv[1].split(","), ["evopinn", *sys.argv[2:]]
from evopinn.cli import main
try:
    main()
finally:
    print("loaded:", *(name for name in heavy if name in sys.modules), file=sys.stderr)
"""

# What a command line with tables, options and a database cannot do without.
LEAST = "import typer, rich.table, pydantic, sqlite3"
MOST_TIMES = 6
"""As long as that; torch alone would make it 20 times."""

LATE = {
    "evopinn.genome.derivatives": "an activation is called: torch",
    "evopinn.lab.studies.comparison.comparison_study": "a study that is carried out loads its kind: torch",
    "evopinn.lab.studies.reproduction": "as above",
    "evopinn.lab.studies.sensitivity.sensitivity_study": "as above",
    "evopinn.problem.domains.boolean": "a combination of shapes is a shape, and shapes combine",
    "evopinn.search.methods": "only a plan that is shown asks its method: numpy",
    "evopinn.view.pages.templates": "only tables on pages load jinja2",
    "evopinn.view.report": "the dashboard's server draws in another process: matplotlib",
    "evopinn.view.terminal.live": "terminals that only POSIX systems have",
    "evopinn.view.terminal.run_summary": "only a result that is printed loads the views",
    "evopinn.workers.cluster.broker": "only the child process loads Ray",
    "evopinn.workers.cluster.node_worker": "a node that lacks evopinn says so",
}
"""What is imported within functions elsewhere than in commands, and why."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> Path:
    """One with a run in `runs` that was begun."""
    place = tmp_path_factory.mktemp("glances")
    config = Config.of({"problem": "heat", "schedule": {"populations": [2], "epochs": [1]}}, "a test")
    with Store.create(place / "runs" / "begun", config.toml(), {}):
        pass
    return place


@pytest.mark.parametrize("arguments", GLANCES, ids=" ".join)
def test_a_glance_loads_no_numerics(directory, arguments):
    command = [sys.executable, "-c", LOADED, ",".join(HEAVY), *arguments]
    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout
    assert ended.stderr.splitlines()[-1] == "loaded:"


def processor_seconds(arguments: list[str], directory: Path) -> float:
    """What a program takes of a processor, at best: other programs make it wait, but not work."""

    def once() -> float:
        before = os.times()
        subprocess.run([sys.executable, *arguments], cwd=directory, capture_output=True, check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    return min(once() for _ in range(3))


def test_a_glance_takes_little_longer_than_the_libraries_it_is_made_of(directory):
    least = processor_seconds(["-c", LEAST], directory)
    commands = [("--help",), ("problems",), ("models",), ("space",), ("runs",), ("show", "begun")]
    took = {each: processor_seconds(["-m", "evopinn", *each], directory) / least for each in commands}
    assert {each: times for each, times in took.items() if times > MOST_TIMES} == {}


def late_imports() -> Iterator[tuple[str, str]]:
    """The modules of the package that are imported within functions, each with the file that does."""
    for path in sorted(ROOT.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evopinn"):
                    yield path.relative_to(ROOT).as_posix(), str(node.module)


def test_only_commands_import_late():
    elsewhere = {module for path, module in late_imports() if not path.startswith("cli/")}
    assert elsewhere == set(LATE)


def test_commands_import_late_only_what_loads_numerics():
    modules = {module for path, module in late_imports() if path.startswith("cli/")}
    light = [
        module
        for module in sorted(modules)
        if subprocess.run(
            [sys.executable, "-c", f"import sys, {module}; sys.exit('numpy' in sys.modules)"], check=False
        ).returncode
        != 1
    ]
    assert modules
    assert light == []
