"""Data flows one way: no cycles between rooms or modules, late imports included."""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import evopinn

ROOT = Path(evopinn.__file__).parent

TOGETHER = {("evopinn.problem.domains.domain", "evopinn.problem.domains.boolean")}
"""Late imports for a reason: a combination of shapes is a shape, and shapes combine."""


def stub_imports(package: Path) -> Iterator[str]:
    """The modules that a lazy package imports when a name of it is used, which only its stub says."""
    name = ".".join(("evopinn", *package.relative_to(ROOT).parts))
    for node in ast.walk(ast.parse((package / "__init__.pyi").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            below = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (f"{name}.{module}" for module in below)


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Who imports whom, wherever in a file, but for the eyes of the type checker alone."""
    graph = grimp.build_graph("evopinn", exclude_type_checking_imports=True, cache_dir=None)
    for stub in ROOT.rglob("__init__.pyi"):
        package = ".".join(("evopinn", *stub.parent.relative_to(ROOT).parts))
        for module in stub_imports(stub.parent):
            graph.add_import(importer=package, imported=module)
    for importer, imported in TOGETHER:
        graph.remove_import(importer=importer, imported=imported)
    return graph


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """The first way from a node back to it; nothing if there is none."""
    done: set[str] = set()

    def search(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for following in sorted(edges.get(node, ())):
            if found := search(following, [*path, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(edges) if (found := search(node, []))), [])


def inside(graph: grimp.ImportGraph, package: str) -> dict[str, set[str]]:
    """Who imports whom among the modules and packages that lie directly in a package, and itself."""

    def collapsed(module: str) -> str:
        return ".".join(module.split(".")[: package.count(".") + 2])

    edges: dict[str, set[str]] = {}
    for module in {package, *graph.find_descendants(package)}:
        for imported in graph.find_modules_directly_imported_by(module):
            if imported == package or imported.startswith(f"{package}."):
                edges.setdefault(collapsed(module), set()).add(collapsed(imported))
    return {node: others - {node} for node, others in edges.items()}


def test_a_cycle_is_found():
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}}) == []


def test_no_package_has_a_cycle_inside(imports):
    packages = sorted(module for module in imports.modules if imports.find_children(module))
    assert len(packages) > 15
    assert {package: found for package in packages if (found := cycle(inside(imports, package)))} == {}


def test_what_is_allowed_is_needed():
    graph = grimp.build_graph("evopinn", exclude_type_checking_imports=True, cache_dir=None)
    assert all(graph.direct_import_exists(importer=a, imported=b) for a, b in TOGETHER)
