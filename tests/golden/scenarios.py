"""The scenarios: each does something with one tree and returns what must be the same with the other."""

import json
import re
import time
from functools import partial
from pathlib import Path

from recorded import copied, recorded, settled_count, tensors, timeless

HERE = Path(__file__).resolve().parent
PROBLEM = str(HERE / "heated_rod.py")
GENOME = "layers=4 neurons=8 shortcuts=0-2 activation=a*tanh(b*x)*cos(x)"
PLAIN = "layers=5 neurons=32 shortcuts=none activation=tanh(x)"
PLAIN_OPTIONS = ("--max-evaluations", 7, "--seed", 3, "--optimizer", "lbfgs", "--rate", 0.5)
QUIET = ("--no-report", "--quiet", "--json")
FINALS = ("--set", "candidates=2", "--set", "evaluations=2")
SMALL = ("--populations", "8,6,4", "--epochs", "4,6,9", *FINALS)
CONSTANT = ("--populations", "6,6,6", "--epochs", "5,5,5", *FINALS)
TRIALS = ("--trials", 14, "--epochs", 5, *FINALS)
LONG = ("--populations", "16,12,8,6", "--epochs", "8,12,18,27", *FINALS)
OPTIONS = ("--set", "continue_elitists=true", "--set", "skip_known=true", "--set", "coarsening=2.0")
SAVED = ("--epochs", 20, "--optimizer", "lm", "--errors-every", 5, "--save", "saved")
PATIENCE = 180.0
CATALOGUE = (
    *(f"klein-gordon:{case}" for case in ("I", "II", "III")),
    *(f"burgers:{case}" for case in ("I", "II", "III")),
    *(f"lame:{case}" for case in ("I", "II", "III", "IV", "V")),
    "poisson-l-shape",
    *(f"laplace-disk-hole:{case}" for case in ("I", "II")),
    *("helmholtz", "heat", "heat-3d", "convection", "wave", "allen-cahn", "burgers-1d"),
    *(f"korteweg-de-vries:{case}" for case in ("I", "II")),
    *("schroedinger", "euler-bernoulli", "plate", "kovasznay", "taylor-green"),
)
METHODS = {
    "evo-dpste": SMALL,
    "evolution": CONSTANT,
    "random": SMALL,
    "bo-fcnet": (*TRIALS, "--set", "batch=2"),
    "bo-fcresnet": (*TRIALS, "--faithful"),
}
ROSTER = """
method = "listed"
[roster]
genomes = [
    "layers=3 neurons=8 shortcuts=none activation=tanh(x)", "paper:klein-gordon/bo-fcnet-1", "{genome}"
]
epochs = 6
[settings]
evaluations = 2
"""


# Trainings


def problem(name, side):
    return {
        optimizer: side.call("train", name, GENOME, optimizer=optimizer, engine=engine, epochs=epochs, seed=5)
        for optimizer, engine, epochs in (("lm", "auto", 3), ("lbfgs", "taylor", 2))
    } | {"words": side.command("problems", name)}


def catalogue(names, side):
    return {name: problem(name, side) for name in names}


def published(side):
    """All published networks on a problem of few points, which takes every operator through the kernels."""
    models = side.call("published")
    results = {
        f"{family} {name}": side.call("train", PROBLEM, genome, optimizer="lbfgs", epochs=4, seed=1)
        for family, name, genome in models
    }
    return {"models": models, "results": results}


def trainings(side):
    """Optimisers, engines and precisions, and the command."""
    facts = {}
    for optimizer in ("lbfgs", "lm", "adam", "adam:7+lm", "adam:5+lbfgs"):
        for engine in ("autograd", "taylor", "fused"):
            for precision in ("float64", "float32"):
                options = {"optimizer": optimizer, "engine": engine, "precision": precision}
                facts[" ".join(options.values())] = side.call("train", PROBLEM, GENOME, epochs=12, **options)
    for words in (
        ("klein-gordon", "--model", "paper:evo-dpste-1", "--epochs", 3),
        (PROBLEM, "--genome", GENOME, "--space", "neurons=8-8", *SAVED),
        (PROBLEM, "--genome", PLAIN, *PLAIN_OPTIONS),
    ):
        facts[" ".join(map(str, words))] = printed(side.command("train", *words, "--json", "--quiet"))
    facts["saved"] = tensors(side.directory / "saved.safetensors")
    facts["about"] = timeless(json.loads((side.directory / "saved.json").read_text()))
    return facts


# Searches


def searched(side, name, *words):
    """A search to its end, and what it recorded."""
    answer = side.command("search", *words, "--run", name, *QUIET)
    return {"command": printed(answer), "recorded": run_facts(side.directory / "runs" / name)}


def search(name, words, side):
    return searched(side, name, *words)


def listed(name, optimizer, workers, side):
    """Genomes from a list, given by a configuration file."""
    path = side.directory / f"{name}.toml"
    path.write_text(f"problem = {json.dumps(PROBLEM)}\n{ROSTER.format(genome=GENOME)}")
    return searched(side, name, "--config", path.name, "--optimizer", optimizer, "--workers", workers)


def from_python(side):
    """A search by `ep.search`, twice: the second returns the first one's result."""
    ask = partial(side.call, "search", PROBLEM, ((6, 4), (4, 8)), method="evo-dpste", seed=2, workers=1)
    options = {"settings": {"candidates": 2, "evaluations": 2}, "training": {"optimizer": "lm"}}
    named = {path.name for path in (side.directory / "runs").glob("*")}
    first, again = ask(**options), ask(**options)
    new = {path.name for path in (side.directory / "runs").glob("*")} - named
    return {"first": first, "again": again, "named": sorted(new)}


def run_facts(directory):
    facts = recorded(directory)
    for each in ("configuration", "file"):
        facts[each].get("workers", {}).pop("cluster", None)  # an address with a port that was free
    return facts


def killed(side):
    """A search killed on its way, resumed to its end, and one that nothing happened to."""
    words = (PROBLEM, *LONG, *OPTIONS, "--workers", 2, "--seed", 4)
    searched(side, "undisturbed", *words)
    process = side.started("search", *words, "--run", "killed", *QUIET)
    last = time.monotonic() + PATIENCE
    while settled_count(side.directory / "runs" / "killed") < 14:
        if process.poll() is not None or time.monotonic() > last:
            raise RuntimeError(f"the search to be killed has ended by itself, or not begun: {process.poll()}")
        time.sleep(0.02)
    process.kill()
    process.wait()
    copied(side.directory / "runs" / "killed", side.directory / "left")
    resumed = side.command("resume", "killed", *QUIET)
    undisturbed = run_facts(side.directory / "runs" / "undisturbed")
    return {
        "code": resumed["code"],
        "undisturbed": undisturbed,
        "resumed": run_facts(side.directory / "runs" / "killed"),
    }


def handed_over(side):
    """A store that the base began and left when it was killed: shown, and gone on with, by both trees."""
    directory = copied(side.base / "left", side.directory / "runs" / "handed-over")
    before = {
        "show": data(side.command("show", "handed-over", "--json")),
        "words": side.command("show", "handed-over"),
    }
    resumed = side.command("resume", "handed-over", *QUIET)
    return {"before": before, "code": resumed["code"], "after": run_facts(directory)}


def on_ray(side):
    """A search on a Ray cluster, and how it ends here."""
    words = (PROBLEM, *SMALL, *OPTIONS, "--seed", 3, "--workers", 2)
    with side.cluster() as address:
        cluster = searched(side, "on-ray", *words, "--cluster", address)["recorded"]
    return {"cluster": cluster, "here": searched(side, "not-on-ray", *words)["recorded"]}


# What is shown of runs: both trees look at the runs of the base, so that even the times must be the same


def views(side):
    copied(side.base / "runs", side.directory / "views" / "runs")
    names = sorted(path.name for path in (side.base / "runs").iterdir())
    facts = {"runs": data(side.command("runs", "--json", where="views"))}
    facts["words"] = side.command("runs", where="views")
    for name in names:
        look = partial(side.command, where="views")
        facts[name] = {
            "show": data(look("show", name, "--json")),
            "three": data(look("show", name, "--json", "--top", 3)),
            "words": [look("show", name), look("show", name, "--charts")],
            **{ending: exported(side, name, ending) for ending in ("csv", "jsonl")},
        }
    look("export", names[0], "network")
    facts["network"] = tensors(side.directory / "views" / "network.safetensors")
    return facts


def exported(side, name, ending):
    answer = side.command("export", name, f"{name}.{ending}", where="views")
    return answer["code"], (side.directory / "views" / f"{name}.{ending}").read_text().splitlines()


def reports(side):
    """Reports are written and lose no number."""
    facts = {}
    for kind, runs in {
        "one": ["undisturbed"],
        "several": ["lm-evo-dpste", "lbfgs-bo-fcnet"],
    }.items():
        for ending in ("md", "html"):
            path = side.directory / "views" / f"{kind}.{ending}"
            answer = side.command("report", *runs, "--out", path.name, where="views")
            text = path.read_text()
            facts[f"{kind} {ending}"] = {
                "code": answer["code"],
                "genomes": sorted(set(re.findall(r"layers=\d+ neurons=\d+", text))),
                "numbers": set(re.findall(r"\d\.\d+ × 10[⁻⁰¹²³⁴-⁹]+", text)) if ending == "md" else set(),
                "words": {"length": len(text), "images": len(re.findall(r"<svg|<img|!\[", text))},
            }
    figures = ("--what", "activation,structure,generations,lineage", "--out", "figures")
    plotted = side.command("plot", "undisturbed", *figures, where="views")
    facts["figures"] = plotted["code"], sorted(plotted["out"].split())
    return facts


# Words in, words out


def plans(side):
    facts = {}
    for method, layout in METHODS.items():
        amounts = (layout, ("--budget", "5000 epochs"), ("--budget", "120 trainings"), ("--preset", "paper"))
        for amount in (*amounts, ("--preset", "quick")):
            for optimizer in ((), ("--optimizer", "lbfgs")):
                words = ("klein-gordon", "--method", method, *amount, *optimizer)
                answer = side.command("search", *words, "--print-config")
                facts[" ".join(map(str, words))] = {
                    "code": answer["code"],
                    "out": [line for line in answer["out"].splitlines() if not line.startswith("#")],
                    "words": answer["err"],
                }
    return facts


def listings(side):
    facts = {"problems": {"words": side.command("problems")}}
    for words in (
        ("models",),
        ("models", "lame"),
        ("space",),
        ("space", "--space", "layers=2-12 neurons=8-64:4 operators=3"),
    ):
        facts[" ".join(words)] = data(side.command(*words, "--json")), {"words": side.command(*words)}
    return facts


def refusals(side):
    """Mistakes: exit codes, and that something is said of them."""
    facts = {}
    for words in (
        ("search",),
        ("search", "hat"),
        ("search", "heat", "--budget", "soon"),
        ("search", "heat", "--budget", "1 epochs"),
        ("search", "heat", "--method", "bo-fcnet", *SMALL),
        ("search", "heat", "--trials", 5, "--epochs", "5,6"),
        ("search", "heat", "--faithful"),
        ("search", "heat", "--set", "elitists"),
        ("search", "heat", "--set", "elite=0.1"),
        ("search", "heat", "--cpus-per-worker", 2),
        ("search", "heat", "--memory", 1),
        ("search", "heat", "--epochs", "5"),
        ("search", "heat", "--config", "none.toml"),
        ("resume", "none"),
        ("show", "none"),
        ("train", "heat", "--genome", "layers=99"),
        ("train", "heat", "--optimizer", "sgd"),
        ("export", "none", "x.csv"),
        ("space", "--space", "layers=9-2"),
        ("models", "heat"),
    ):
        answer = side.command(*words, refused=True)
        facts[" ".join(map(str, words))] = answer["code"], answer["out"], {"words": answer["err"]}
    return facts


# Studies


def study(name, words, side):
    """A study to its end; what was trained, and its tables as data."""
    words = (*words, "--coarseness", 8, "--workers", 2, "--study", name, "--no-report", "--quiet")
    first = side.command(*words)
    directory = side.directory / "studies" / name
    runs = sorted(path.parent for path in directory.rglob("run.sqlite"))
    return {
        "code": first["code"],
        "words": first["out"],
        "data": timeless(data(side.command(*words, "--json"))),
        "runs": {str(run.relative_to(directory)): run_facts(run) for run in runs},
    }


def printed(answer):
    """What a command printed as JSON, and how it ended; without times."""
    return {"code": answer["code"], "text": answer["err"], "out": timeless(data(answer))}


def data(answer):
    try:
        return json.loads(answer["out"])
    except (KeyError, ValueError):
        return answer


TINY = ("--epochs", 3, "--trials", 2)
SCENARIOS = {
    "listings": listings,
    "refusals": refusals,
    "plans": plans,
    "trainings": trainings,
    "published networks": published,
    **{
        f"search: {method}, {optimizer}, {workers} workers": partial(
            search,
            f"{optimizer}-{method}",
            (
                PROBLEM,
                "--method",
                method,
                *layout,
                "--optimizer",
                optimizer,
                "--workers",
                workers,
                "--seed",
                seed,
            ),
        )
        for seed, (method, layout) in enumerate(METHODS.items())
        for optimizer, workers in (("lm", 1 + seed % 2), ("lbfgs", 2 - seed % 2))
    },
    **{
        f"search: listed, {optimizer}, {workers} workers": partial(
            listed, f"{optimizer}-listed", optimizer, workers
        )
        for optimizer, workers in (("lm", 2), ("lbfgs", 1))
    },
    "search: evo-dpste, adam, float32": partial(
        search,
        "adam",
        (PROBLEM, *SMALL, "--optimizer", "adam", "--precision", "float32", "--engine", "taylor", "--seed", 7),
    ),
    "search: by a number of trainings": partial(
        search,
        "budget",
        ("heat", "--budget", "30 trainings", "--set", "candidates=1", "--set", "evaluations=2"),
    ),
    "search: from Python": from_python,
    "search: killed and resumed": killed,
    "search: begun by the base, resumed by both": handed_over,
    "search: on Ray": on_ray,
    "study: reproduce": partial(
        study,
        "reproduce",
        ("reproduce", "table", "KG", "--models", "evo-dpste-1,bo-fcnet-2", "--cases", "II", *TINY),
    ),
    "study: sensitivity": partial(study, "sensitivity", ("sensitivity", PROBLEM, *TINY)),
    "study: compare": partial(
        study,
        "compare",
        ("compare", PROBLEM, "--methods", "random,evo-dpste", "--runs", 1, "--budget", "2600 epochs", *TINY),
    ),
    "views": views,
    "reports and figures": reports,
    "catalogue": partial(catalogue, CATALOGUE),
}
