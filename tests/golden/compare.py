"""A comparison of two states of the code, bit for bit: a base commit and the working tree.

    make golden BASE=4b859ff
    .venv/bin/python tests/golden/compare.py 4b859ff --only ray

Losses differ between kinds of CPU, so nothing is stored: both trees play the same scenarios on this machine
at the same time, through the command line and the public names only. Whatever they compute, record and print
as data must be the same. Sentences for people may change: the script counts those that did and does not fail.
It takes about five minutes on two quiet cores.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(TREE / "tests" / "cluster")]

import raylets  # noqa: E402 - which makes Ray's settings for all processes that are started here
from recorded import WORDS, differences  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402

_SHOWN = 4  # differences of a scenario that are printed
_WIDTH = 200
_HOLDER = """
import runpy, sys
cluster = runpy.run_path(sys.argv[1])["RayCluster"]()
print("address", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


class Failure(Exception):  # noqa: N818 - it is a finding
    """A scenario cannot be played to its end."""


class Side:
    """One of the two trees, with a process that plays scenarios with it and a directory to play in.

    Args:
        name: `base` or `tree`.
        tree: Where the code is.
        scratch: A directory for this comparison; each side has its own in it.
    """

    def __init__(self, name, tree, scratch):
        self.name = name
        self.directory = scratch / name
        self.base = scratch / "base"
        self.directory.mkdir()
        self.environment = os.environ | {
            "PYTHONPATH": str(tree / "src"),
            "EVOPINN_CACHE": str(scratch / f"kernels-{name}"),
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "COLUMNS": "200",
        }
        self._log = (scratch / f"{name}.log").open("w")
        self._player = self._start([HERE / "player.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _start(self, words, **options):
        return subprocess.Popen(
            [sys.executable, *map(str, words)],
            cwd=self.directory,
            env=self.environment,
            stderr=self._log,
            text=True,
            **options,
        )

    def started(self, *words):
        """The command line in a process of its own."""
        return self._start(["-m", "evopinn", *words], stdout=self._log, start_new_session=True)

    def call(self, what, *arguments, where="", **options):
        """Have the player do something; see there."""
        request = {"call": what, "arguments": arguments, "options": options}
        request["directory"] = str(self.directory / where)
        self._player.stdin.write(json.dumps(request) + "\n")
        self._player.stdin.flush()
        line = self._player.stdout.readline()
        answer = json.loads(line) if line else {"exception": f"the player has died; see {self._log.name}"}
        if "exception" in answer:
            raise Failure(answer["exception"])
        return answer["value"]

    def command(self, *words, where="", refused=False):
        """The command line: its exit code, what it printed, and what it said."""
        answer = self.call("command", list(map(str, words)), where=where)
        if (answer["code"] != 0) != refused:
            raise Failure(f"{shlex.join(map(str, words))}: exit code {answer['code']}: {answer['err']}")
        return answer

    @contextmanager
    def cluster(self):
        """A Ray cluster whose nodes import this tree; gives its address."""
        holder = self._start(["-c", _HOLDER, raylets.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            address = ""
            while not address.startswith("address "):
                address = holder.stdout.readline()
                if not address:
                    raise Failure(f"Ray did not start; see {self._log.name}")
            yield address.split()[1]
        finally:
            holder.communicate()

    def close(self):
        """End the player."""
        self._player.stdin.close()
        self._player.wait()
        self._log.close()


@contextmanager
def worktree(commit, path):
    """A commit's files, for as long as they are needed."""
    git = ["git", "-C", str(TREE), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(path), commit], check=True)
    try:
        yield path
    finally:
        subprocess.run([*git, "remove", "--force", str(path)], check=True)


def played(scenario, sides):
    """Play a scenario with both sides at once; the places at which they differ, in data and in words."""

    def facts(side):
        try:
            return scenario(side)
        except (Failure, OSError) as failure:
            return f"{side.name} failed: {failure}"  # which names the side, so that it always differs

    with ThreadPoolExecutor(len(sides)) as pool:
        one, other = pool.map(facts, sides)
    found = list(differences(one, other))
    in_words = [each for each in found if set(each[0]) & set(WORDS)]
    return [each for each in found if each not in in_words], in_words


def told(path, one, other):
    """One difference in a few lines."""
    lines = [" > ".join(path) or "all of it"]
    for name, value in (("base", one), ("tree", other)):
        text = repr(value)
        lines.append(f"  {name}: {text if len(text) <= _WIDTH else text[:_WIDTH] + ' …'}")
    return "\n".join(f"    {line}" for line in lines)


def compare(commit, only, scratch, words):
    """Play all scenarios, a line for each; how many differ."""
    failures = 0
    with ExitStack() as stack:
        trees = {"base": stack.enter_context(worktree(commit, scratch / "worktree")), "tree": TREE}
        sides = [Side(name, tree, scratch) for name, tree in trees.items()]
        for side in sides:
            stack.callback(side.close)
        for name, scenario in SCENARIOS.items():
            if only and not any(part in name for part in only):
                continue
            since = time.monotonic()
            in_data, in_words = played(scenario, sides)
            verdict = f"{len(in_data)} differences" if in_data else "same"
            aside = f" ({len(in_words)} sentences worded anew)" if in_words else ""
            print(f"{name:<50} {verdict}{aside}  {time.monotonic() - since:.0f} s", flush=True)  # noqa: T201
            for each in [*in_data[:_SHOWN], *(in_words if words else [])]:
                print(told(*each))  # noqa: T201
            failures += bool(in_data)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("base", help="the commit to compare the working tree with")
    parser.add_argument("--only", action="append", help="scenarios with this in their name; may be repeated")
    parser.add_argument("--words", action="store_true", help="print the sentences that were worded anew")
    parser.add_argument("--keep", action="store_true", help="keep the directory of the comparison")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="evopinn-golden-"))
    try:
        failures = compare(options.base, options.only, scratch, options.words)
    finally:
        if options.keep:
            print(f"kept: {scratch}")  # noqa: T201
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print("all the same" if not failures else f"{failures} scenarios differ")  # noqa: T201
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
