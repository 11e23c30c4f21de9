"""The documentation: its snippets run, its commands parse, its tables are those of the code.

A fenced block with `<!-- not run -->` on the line before is left alone. With `<!-- output -->` there, what a
block prints is compared: that of Python with the text block that follows, that of a `$ evopinn ...` line with
the rest of its console block. A line `...` stands for any number of lines.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import evopinn
from evopinn.catalogue import catalogue, problem
from evopinn.cli import app
from evopinn.errors import EvopinnError, GenomeSyntaxError
from evopinn.genome import COMMON, OPERATORS, STARTS, Genome, Space, published_model, published_models
from evopinn.genome.variation.activation_mutation import OPERATOR_MUTATIONS, PARAMETER_MUTATIONS
from evopinn.genome.variation.start_mutation import START_MUTATIONS
from evopinn.problem import is_problem_file
from evopinn.training import Status, find_optimiser
from evopinn.training.duration import parse_duration

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path for path in [*DOCS.glob("*.md"), ROOT / "README.md"] if path.is_file())

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[\w ]+) -->\n)?(?P<fence>```+)(?P<language>\w+)\n(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, the mark before it, its text, and the line it starts on."""

    page: Path
    language: str
    mark: str
    body: str
    line: int

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> tuple[Block, ...]:
    text = page.read_text(encoding="utf-8")
    return tuple(
        Block(page, m["language"], m["mark"] or "", m["body"], text.count("\n", 0, m.start("body")) + 1)
        for m in FENCE.finditer(text)
    )


def test_each_mark_stands_before_a_block() -> None:
    for page in PAGES:
        marks = re.findall(r"^<!-- (output|not run) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert [block.mark for block in blocks(page) if block.mark] == marks, page.name


def assert_printed(expected: str, printed: str, where: object) -> None:
    """Compare line by line, but for space at the end of a line; `...` is any number of lines."""
    lines = [line.rstrip() for line in printed.splitlines()]
    position = 0
    wanted = [chunk.strip("\n") for chunk in re.split(r"^\.\.\.\n", expected, flags=re.MULTILINE)]
    if len(wanted) == 1:
        assert lines == wanted[0].splitlines(), where
    for chunk in (chunk.splitlines() for chunk in wanted if chunk):
        starts = [k for k in range(position, len(lines)) if lines[k : k + len(chunk)] == chunk]
        assert starts, f"{where}: not printed, or not in this order:\n" + "\n".join([*chunk, "", *lines])
        position = starts[0] + len(chunk)


PYTHON_PAGES = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": page.stem}
    found = blocks(page)
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.language != "python" or block.mark == "not run":
            continue
        # Empty lines in front, so that a traceback has the page's line numbers.
        exec(compile("\n" * (block.line - 1) + block.body, str(page), "exec"), namespace)
        printed = capsys.readouterr().out
        if block.mark == "output":
            assert following is not None
            assert following.language == "text", block
            assert_printed(following.body, printed, block)


def commands() -> Iterator[tuple[Block, str]]:
    for page in PAGES:
        for block in blocks(page):
            if block.language in {"sh", "console"} and block.mark != "not run":
                for line in block.body.splitlines():
                    if (command := line.removeprefix("$ ")).startswith("evopinn"):
                        yield block, command


COMMANDS = [pytest.param(command, id=f"{block}: {command}") for block, command in commands()]

# What a page shows to be refused.
MISTAKES = {"evopinn train klein-gordn"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_parses_and_what_it_names_exists(command: str) -> None:
    _, *words = shlex.split(command, comments=True)
    group: Any = typer.main.get_command(app)
    if words[0] in ("--help", "--version"):
        return
    assert words[0] in group.commands
    if "--help" in words:
        return
    with group.commands[words[0]].make_context(words[0], words[1:]) as context:
        values = context.params
    if command not in MISTAKES:
        _check_values(words[0], values)


def _check_values(command: str, values: dict[str, Any]) -> None:
    """What the command itself would look at before it starts to train."""
    name = values.get("name") or values.get("problem") or ""
    if command == "models":
        assert published_models(name or None)
    elif name and not is_problem_file(name):
        assert problem(name)
    if values.get("model"):
        *family, model = values["model"].removeprefix("paper:").split("/")
        assert published_model(family[0] if family else name.partition(":")[0], model)
    space = Space.parse(values["bounds"]) if values.get("bounds") else None
    if values.get("genome"):
        Genome.parse(values["genome"], space)
    if values.get("time_limit"):
        parse_duration(values["time_limit"])
    if values.get("optimizer"):
        find_optimiser(values["optimizer"], values.get("rate"))


SHOWN = [
    block
    for page in PAGES
    for block in blocks(page)
    if block.language == "console" and block.mark == "output"
]


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_a_command_prints_what_the_page_shows(block: Block) -> None:
    command, _, expected = block.body.partition("\n")
    result = CliRunner().invoke(app, shlex.split(command.removeprefix("$ evopinn")), env={"COLUMNS": "100"})
    assert result.exit_code == 0
    assert_printed(expected, result.stdout, block)


def rows(page: str, first_header: str) -> list[list[str]]:
    """The rows of the page's table whose first column has this header, as lists of cells."""
    text = (DOCS / page).read_text(encoding="utf-8")
    table = re.search(rf"^\| {first_header} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table, f"{page} has no table of {first_header}"
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table[1].splitlines()]
    return [[cell.strip() for cell in line] for line in lines]


def code(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]*)`", cell)


def test_the_catalogue_is_complete() -> None:
    listed = [tuple(cells[:4]) for cells in rows("catalogue.md", "name")]
    assert listed == [
        (f"`{row.name}`", ", ".join(row.cases), ", ".join(row.coordinates), ", ".join(row.fields))
        for row in catalogue()
    ]
    # The paper's cases and the others are explained once more below.
    explained = {code(cells[0])[0] for cells in rows("catalogue.md", "problem")}
    assert explained == {row.name for row in catalogue() if row.cases}


def test_the_operators_are_complete() -> None:
    listed = {code(cells[0])[0]: code(cells[1])[0] for cells in rows("genomes.md", "name")}
    assert listed == {
        name: row.text.template.replace("#1", "E").replace("#2", "F") for name, row in OPERATORS.items()
    }


def test_the_common_activations_are_complete() -> None:
    text = (DOCS / "genomes.md").read_text(encoding="utf-8")
    for name, row in COMMON.items():
        forms = ", ".join(f"`{form}`" for form in row.forms)
        assert f"| `{name}` | {forms} |" in text


def test_the_mutations_are_complete() -> None:
    listed = [code(cells[0])[0] for cells in rows("genomes.md", "mutation")]
    others = [*OPERATOR_MUTATIONS, *PARAMETER_MUTATIONS, *START_MUTATIONS]
    assert listed[-len(others) :] == others
    source = (ROOT / "src/evopinn/genome/variation/structure_mutation.py").read_text(encoding="utf-8")
    of_structures = set(re.findall(r'"((?:insert|remove|add|change) \w+)"', source))
    assert set(listed[: -len(others)]) == of_structures


def test_the_starts_are_complete() -> None:
    listed = {code(cells[0])[0]: cells[1:] for cells in rows("genomes.md", "start")}
    assert listed == {
        row.name: [
            row.summary,
            "; ".join(
                f"`{each.name}`: {each.default:g}, {each.least:g} to {each.most:g}, "
                f"{each.searched[0]:g} to {each.searched[1]:g}"
                for each in row.parameters
            ),
        ]
        for row in STARTS.values()
    }


def test_the_statuses_are_complete() -> None:
    listed = [code(cells[0])[0] for cells in rows("training.md", "`result.status`")]
    assert listed == [status.value for status in Status if status.has_result]


def test_the_ways_in_which_a_training_is_given_up_are_complete() -> None:
    listed = {status for cells in rows("runs.md", "status") for status in code(cells[0])}
    ended_elsewise = {Status.TIME_LIMIT, Status.INTERRUPTED}  # a search limits and interrupts no training so
    assert listed == {*Status} - ended_elsewise


def test_the_errors_are_in_the_reference() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    for error in [EvopinnError, *EvopinnError.__subclasses__(), GenomeSyntaxError]:
        assert f"::: evopinn.errors.{error.__name__}\n" in text


def test_the_figures_are_complete() -> None:
    listed = [code(cells[0])[0] for cells in rows("figures.md", "name")]
    assert listed == list(evopinn.figures.FIGURES)


def test_the_commands_and_options_are_complete() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    group: Any = typer.main.get_command(app)
    assert [code(cells[0])[0] for cells in rows("cli.md", "command")] == [
        f"evopinn {name}" for name in group.commands
    ]
    sections = {
        name: text.partition(f"## evopinn {name}\n")[2].partition("\n## ")[0] for name in group.commands
    }
    for study in ("compare", "reproduce"):  # the first study lists the options that all of them take
        sections[study] += sections["sensitivity"]
    for name, command in group.commands.items():
        inner = getattr(command, "commands", {})
        for parameter in [*command.params, *(each for one in inner.values() for each in one.params)]:
            for option in parameter.opts:
                assert not option.startswith("--") or option in sections[name], f"{name} {option}"
    options = {option for parameter in group.commands["train"].params for option in parameter.opts}
    assert {code(cells[0])[0] for cells in rows("cli.md", "option")} == options - {"problem", "--help"}


def test_the_rooms_are_those_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = [each["layers"] for each in contracts["contracts"] if each.get("exhaustive")]
    order = [layer for layer in reversed(layers) if layer != "__main__"]
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    (picture,) = [
        block.body.split() for block in blocks(DOCS / "architecture.md") if block.language == "text"
    ]
    listed = [code(cells[0])[0] for cells in rows("architecture.md", "room")]
    assert sorted(picture) == sorted(listed) == sorted(order), text
    foundations = {"errors", "checks", "atomic_write"}
    assert [room for room in listed if room not in foundations] == [
        room for room in order if room not in foundations
    ]


@pytest.mark.parametrize("page", ["algorithm.md", "architecture.md", "engine.md", "extending.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    package = ROOT / "src" / "evopinn"
    text = FENCE.sub("", (DOCS / page).read_text(encoding="utf-8"))
    named = re.findall(r"`([\w/-]+(?:\.(?:py|jinja|json|toml|md|html\.jinja)|/))`", text)
    assert named
    missing = [
        name
        for name in named
        if not any((folder / name).exists() for folder in (ROOT, package, package / "engine"))
    ]
    assert not missing


def test_the_public_names_are_in_the_reference() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    assert len(set(listed)) == len(listed)
    assert set(evopinn.__all__) <= {name.rpartition(".")[2] for name in listed}
