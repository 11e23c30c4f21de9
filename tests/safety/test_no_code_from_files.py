"""Where the package makes code of data: a list of places, each with its reason, and nothing else.

Pickles and the like may run anything. They go only between a process and its own workers, and are never read
from a file or from anybody else; what is read from there is JSON, TOML, SQLite and safetensors.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

import evopinn

ROOT = Path(evopinn.__file__).parent

HARMLESS = ("HIGHEST_PROTOCOL", "PicklingError")
MODULES = ("pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib", "yaml", "runpy", "code", "codeop")
"""Modules that can make code of data."""

BUILT_IN = ("eval", "exec", "compile", "__import__")
CALLS = ("exec_module", "load_module", "import_module", "from_string")
"""Methods that can, whatever they belong to."""

LOADERS = ("torch.load", "torch.jit.load", "torch.hub.load", "np.load", "numpy.load", "os.system", "os.popen")
"""Functions that can unless they are told not to."""

NATIVE = ("add_object_img",)
"""Functions that take machine code."""

ALLOWED = {
    "workers/channel.py": {
        "pickle.dumps": "messages to own workers",
        "pickle.loads": "messages of own workers, over the private connection",
    },
    "workers/process.py": {
        "pickle.loads": "a worker reads its tasks from the private connection to the process that started it",
    },
    "workers/evaluation.py": {
        "pickle.dumps": "assignments to own Ray workers",
        "pickle.loads": "and their results",
    },
    "lab/bench/search_overhead.py": {
        "pickle.dumps": "a result is packed, to time how long that takes",
        "pickle.loads": "and unpacked",
    },
    "lab/bench/deepxde_model.py": {"import_module('deepxde')": "a peer to compare with, if it is installed"},
    "lab/bench/jax_network.py": {"import_module('jax')": "another"},
    "workers/problem_source.py": {
        "cloudpickle.dumps": "a problem that was given as an object in Python goes to own workers",
        "cloudpickle.loads": "there it becomes an object again; it is never written to a disk",
        "cloudpickle.register_pickle_by_value": "so that it takes along the functions of its own file",
        "cloudpickle.unregister_pickle_by_value": "and only while it is packed",
    },
    "problem/files.py": {"exec_module": "a problem file is a program, which the user names; the docs say so"},
    "catalogue/building.py": {"import_module": "a module of our own, by a name that its table has"},
    "training/optimiser_table.py": {"import_module": "a module of our own, which a row of its table names"},
    "store/directory.py": {"import_module('fcntl')": "of the standard library, where there is one"},
    "run/run_result.py": {"import_module('pandas')": "asked for by a method that returns its tables"},
    "problem/reference.py": {"np.load(allow_pickle=False)": "arrays of numbers; objects are refused"},
    "engine/fused/compiler.py": {
        "add_object_img": "kernels compiled here, or by the same user before: files of others are not read"
    },
}
BETWEEN_OWN_PROCESSES = {
    "pickle.dumps",
    "pickle.loads",
    "cloudpickle.dumps",
    "cloudpickle.loads",
    "cloudpickle.register_pickle_by_value",
}
"""What `workers/cluster` may use: tasks and results between a driver and its Ray workers."""


def dotted(node):
    """`a.b.c` of an expression that is only names; otherwise `?.c`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name() | ast.Attribute() as value, attr=name):
            return f"{dotted(value)}.{name}"
        case ast.Attribute(attr=name):
            return f"?.{name}"
    return ""


def is_dangerous_import(node):
    match node:
        case ast.Import(names=names):
            return [each.name for each in names if each.name.split(".")[0] in MODULES]
        case ast.ImportFrom(module=module, names=names):
            whole = [module] if module and module.split(".")[0] in MODULES else []
            return whole + [each.name for each in names if each.name in MODULES and module != "evopinn"]
    return []


def used(tree):
    """Everything in a module that can make code of data, as `ALLOWED` writes it; imports apart."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (
                module in MODULES and name not in HARMLESS
            ):
                yield f"{module}.{name}"
            case ast.Call(func=function, args=arguments, keywords=keywords):
                name = dotted(function)
                last = name.rpartition(".")[2]
                constants = [ast.unparse(each) for each in arguments if isinstance(each, ast.Constant)]
                options = [f"{each.arg}={ast.unparse(each.value)}" for each in keywords]
                if name in LOADERS:
                    yield f"{name}({', '.join(options)})"
                elif last == "import_module" and constants:
                    yield f"{last}({constants[0]})"
                elif name in BUILT_IN or last in (*CALLS, *NATIVE):
                    yield last
                if (
                    "shell=True" in options
                    or "weights_only=False" in options
                    or "autoescape=False" in options
                ):
                    yield f"{name}({', '.join(options)})"


def everything(source):
    found = defaultdict(set)
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        place = path.relative_to(source).as_posix()
        uses = set(used(tree))
        imports = {name for node in ast.walk(tree) for name in is_dangerous_import(node)}
        if uses:
            found[place] |= uses
        if imports and not any(use.partition(".")[0] in MODULES for use in uses):
            found[place] |= {f"import {name}" for name in imports}
    return dict(found)


def test_only_the_places_of_the_list_make_code_of_data():
    found = everything(ROOT)
    cluster = {place: found.pop(place) for place in list(found) if place.startswith("workers/cluster/")}
    named = {place: set(rows) for place, rows in ALLOWED.items()}
    new = {place: uses - named.get(place, set()) for place, uses in found.items()}
    assert {place: uses for place, uses in new.items() if uses} == {}
    for uses in cluster.values():
        assert uses <= BETWEEN_OWN_PROCESSES
    gone = {place: uses - found.get(place, set()) for place, uses in named.items()}
    assert {place: uses for place, uses in gone.items() if uses} == {}


HOSTILE = """
import pickle
from yaml import load
import torch, numpy as np, subprocess, jinja2
pickle.load(open("a"))
eval("1")
torch.load("a", weights_only=False)
np.load("a")
__import__(name)
importlib.import_module(name)
subprocess.run("a", shell=True)
environment.from_string(text)
re.compile("a")
"""


def test_the_list_would_notice(tmp_path):
    (tmp_path / "new.py").write_text(HOSTILE)
    (tmp_path / "hidden.py").write_text("import marshal as m\nm.loads(b'')\n")
    found = everything(tmp_path)
    assert found["new.py"] == {
        *(
            "pickle.load",
            "eval",
            "torch.load(weights_only=False)",
            "np.load()",
            "__import__",
            "import_module",
        ),
        *("subprocess.run(shell=True)", "from_string"),
    }
    assert found["hidden.py"] == {"import marshal"}


def test_reports_escape_whatever_a_run_says():
    """All but our own style and script, and formulas, which a library has made of LaTeX."""
    assert "autoescape=True" in (ROOT / "view" / "pages" / "templates.py").read_text(encoding="utf-8")
    texts = [template.read_text(encoding="utf-8") for template in ROOT.rglob("*.jinja")]
    unescaped = {name for text in texts for name in re.findall(r"([\w.]+)\s*\|\s*safe\b", text)}
    assert unescaped == {"formula.mathml", "css", "script"}
    assert not any("autoescape" in text or "Markup(" in text for text in texts)
