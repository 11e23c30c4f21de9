"""The process that plays scenarios with one tree: requests as lines of JSON in, what came of each out.

It imports evopinn from where PYTHONPATH says and uses public names only, since all others may differ between
trees. One process runs many commands, which saves the seconds that each would take to start.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback

import torch

import evopinn as ep


def command(words):
    """`python -m evopinn`: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["evopinn", *words]
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_module("evopinn", run_name="__main__")
        except SystemExit as ended:
            code = ended.code or 0
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def train(problem, genome, **options):
    """`ep.train`: everything that does not depend on the time it took."""
    return trained(ep.train(problem, genome, **options))


def trained(result):
    """A training's result as plain data."""
    return {
        "genome": result.genome.text,
        "loss": result.loss,
        "errors": dict(result.errors),
        "residuals": dict(result.residuals),
        "status": str(result.status),
        "epochs": result.epochs,
        "evaluations": result.evaluations,
        "theta": result.theta.to(torch.float64).tolist(),
        "losses": list(result.history.losses),
        "epochs of losses": list(result.history.epochs),
    }


def search(problem, schedule, **options):
    """`ep.search`, and what its result says."""
    found = ep.search(problem, schedule=ep.Schedule(*map(tuple, schedule)), progress=False, **options)
    return {
        "state": found.state,
        "problem": found.problem,
        "method": found.method,
        "seed": found.seed,
        "best": trained(found.best),
        "hall of fame": [(entry.task, entry.genome, entry.loss) for entry in found.hall_of_fame],
        "finalists": [(each.genome, each.tasks, each.losses, each.mean_loss) for each in found.finalists],
        "rows": len(list(found.evaluations())),
        "prediction": found.best.predict([[0.25, 0.5], [0.5, 0.1]]).tolist(),
        "courses": [list(found.history(entry.task).losses) for entry in found.hall_of_fame],
    }


def published():
    """The published networks, by problem and name."""
    return [(each.problem, each.name, each.genome.text) for each in ep.published_models()]


def serve(requests, answers):
    """Answer requests until there are no more."""
    known = {each.__name__: each for each in (command, train, search, published)}
    for line in requests:
        request = json.loads(line)
        os.chdir(request["directory"])
        try:
            answer = {"value": known[request["call"]](*request["arguments"], **request["options"])}
        except BaseException:  # noqa: BLE001 - the other process tells of it
            answer = {"exception": traceback.format_exc(limit=-3)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    torch.set_num_threads(1)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what workers and libraries print must not come between the answers
    serve(sys.stdin, channel)
