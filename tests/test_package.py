"""The package as it is imported."""

import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import cloudpickle

import evopinn as ep
from evopinn.search import Roster

ROOT = Path(__file__).parents[1]


def test_an_installed_package_has_every_file():
    package = ROOT / "src" / "evopinn"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    shipped = {path for pattern in settings["package-data"]["evopinn"] for path in package.glob(pattern)}
    data = {path for path in package.rglob("*.*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert data
    assert data - shipped == set()


def test_the_function_search_is_not_hidden_by_the_package_of_that_name():
    assert ep.Roster is Roster
    assert callable(ep.search)


def test_layouts_statuses_histories_settings_and_costs_load_no_torch():
    code = (
        "import sys; from evopinn.training import History, Status, TrainingOptions, is_overfitted, "
        "parse_duration, spends_by_cost, typical_cost; assert spends_by_cost('adam:5+lm'); "
        "from evopinn.genome import Genome; from evopinn.network import Layout; "
        "genome = Genome.parse('layers=3 neurons=20 activation=a*tanh(x)'); "
        "assert Layout.of_network(genome, 2, 1).size == 503; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_refers_to_the_package_can_be_sent_to_another_process():
    assert pickle.loads(cloudpickle.dumps(ep)) is ep
