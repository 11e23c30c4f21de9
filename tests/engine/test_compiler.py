"""The compiler and its store on disk, which may be broken in any way without anybody noticing."""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evopinn.engine.fused import compiler


def text(number: int) -> str:
    """A module with a function that returns a number."""
    return f"define i32 @answer() {{\n  ret i32 {number}\n}}\n"


def answer(number: int = 42) -> int:
    """What the function returns, compiled or loaded as if by a new process."""
    compiler.compile_module.cache_clear()
    compiled = compiler.compile_module(text(number))
    return ctypes.CFUNCTYPE(ctypes.c_int32)(compiled.address("answer"))()


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> Path:
    """An empty store."""
    monkeypatch.setenv("EVOPINN_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def compilations(monkeypatch) -> list[str]:
    """The texts that were compiled so far."""
    texts: list[str] = []
    compile_text = compiler._object_code

    def record(each: str) -> bytes:
        texts.append(each)
        return compile_text(each)

    monkeypatch.setattr(compiler, "_object_code", record)
    return texts


def test_a_text_is_compiled_once_in_a_process(compilations):
    compiler.compile_module.cache_clear()
    assert compiler.compile_module(text(1)) is compiler.compile_module(text(1))
    assert len(compilations) == 1


def test_stored_code_is_loaded(compilations, store):
    assert answer() == 42
    assert answer() == 42
    assert len(compilations) == 1
    assert len(list(store.iterdir())) == 1


def test_stored_code_is_loaded_by_another_process(store):
    assert answer() == 42
    script = f"""
import ctypes
from evopinn.engine.fused import compiler

def refuse(text):
    raise AssertionError("compiled again")

assert not compiler.target.cache_info().currsize, "importing has done work"
compiler._object_code = refuse
compiled = compiler.compile_module({text(42)!r})
print(ctypes.CFUNCTYPE(ctypes.c_int32)(compiled.address("answer"))())
"""
    environment = {**os.environ, "EVOPINN_CACHE": str(store)}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.returncode) == ("42\n", 0), ended.stderr


def test_texts_differ():
    assert (answer(1), answer(2), answer(1)) == (1, 2, 1)


def test_another_machine_compiles_anew(compilations, monkeypatch):
    assert answer() == 42
    here = compiler.target()
    other = compiler.Processor(here.triple, "x86-64" if "x86" in here.triple else "generic", "")
    monkeypatch.setattr(compiler, "target", lambda: other)
    assert answer() == 42
    assert len(compilations) == 2


def test_a_file_in_the_place_of_another_is_not_taken_for_it(store):
    assert answer(1) == 1
    [first] = store.iterdir()
    assert answer(2) == 2
    [second] = set(store.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    assert answer(2) == 2


def test_a_pipe_in_the_place_of_a_file_does_not_hold_anybody_up(store):
    answer()
    [file] = store.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert answer() == 42


@pytest.mark.parametrize(
    "damage",
    [lambda code: b"", lambda code: code[:20], lambda code: code[:-1], lambda code: code[:-1] + b"\xff"],
    ids=["empty", "no checksum", "torn", "changed"],
)
def test_a_damaged_file_is_replaced(damage, compilations, store):
    answer()
    [file] = store.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert answer() == 42
    assert file.read_bytes() == whole
    assert answer() == 42
    assert len(compilations) == 2


def test_a_directory_in_the_place_of_the_file(compilations, store):
    answer()
    [file] = store.iterdir()
    file.unlink()
    file.mkdir()
    assert answer() == 42
    assert len(compilations) == 2
    assert list(store.iterdir()) == [file]


def test_a_store_that_cannot_be_made(compilations, store):
    store.write_text("not a directory")
    assert answer() == 42
    assert answer() == 42
    assert len(compilations) == 2


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_store(compilations, store):
    store.mkdir(mode=0o500)
    assert answer() == 42
    assert answer() == 42
    assert len(compilations) == 2


@pytest.mark.parametrize(
    ("module", "name"),
    [(tempfile, "mkstemp"), (os, "fdopen"), (Path, "replace")],
    ids=["open", "write", "rename"],
)
def test_a_full_disk(module, name, compilations, store, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, name, full)
        assert answer() == 42
    assert list(store.iterdir()) == []
    assert answer() == 42
    assert len(compilations) == 2


def test_without_a_home(compilations, monkeypatch):
    monkeypatch.delenv("EVOPINN_CACHE")
    monkeypatch.setattr(compiler.sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert compiler.store() is None
    assert answer() == 42
    assert len(compilations) == 1


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/evopinn/kernels"),
        ("linux", {}, "/home/of/.cache/evopinn/kernels"),
        ("darwin", {"XDG_CACHE_HOME": "/cache"}, "/home/of/Library/Caches/evopinn/kernels"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/evopinn/kernels"),
        ("win32", {}, "/home/of/AppData/Local/evopinn/kernels"),
        ("linux", {"EVOPINN_CACHE": "/chosen"}, "/chosen"),
    ],
)
def test_where_the_store_is(platform, variables, expected, monkeypatch):
    for name in ("EVOPINN_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/of", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(compiler.sys, "platform", platform)
    assert compiler.store() == Path(expected)


def test_the_oldest_files_go(tmp_path):
    (tmp_path / "mine.txt").write_bytes(bytes(1000))  # older than all, but nobody's business
    os.utime(tmp_path / "mine.txt", (1e8, 1e8))
    for age, name in enumerate("dcba"):
        file = tmp_path / (64 * name)
        file.write_bytes(bytes(100))
        os.utime(file, (1e9 - age, 1e9 - age))
    compiler.shrink(tmp_path, limit=250)
    assert sorted(file.name[0] for file in tmp_path.iterdir()) == ["c", "d", "m"]


def test_the_store_is_kept_small(store, monkeypatch):
    monkeypatch.setattr(compiler, "_LOOK_EVERY", 1)
    monkeypatch.setattr(compiler, "STORE_LIMIT", 0)
    assert answer() == 42
    assert list(store.iterdir()) == []


def test_an_unknown_function():
    with pytest.raises(KeyError, match="question"):
        compiler.compile_module(text(1)).address("question")


def test_code_lives_as_long_as_the_object(store):
    compiled = compiler.compile_module(text(7))
    function = ctypes.CFUNCTYPE(ctypes.c_int32)(compiled.address("answer"))
    compiler.compile_module.cache_clear()
    assert [answer(number) for number in range(20)] == list(range(20))
    assert function() == 7


def test_wide_registers_are_used_where_there_are_any():
    features = compiler.target().features.split(",")
    assert ("+avx512f" in features) == ("-prefer-256-bit" in features)
