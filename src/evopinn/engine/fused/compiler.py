"""The compiler of LLVM text to machine code, with a cache in the process and one on disk.

The key of a stored object is everything that made it: the text, the processor and its features, the
compiler's version. The store is optional: if anything is wrong with it, the text is compiled.
"""

import contextlib
import hashlib
import os
import re
import stat
import sys
import tempfile
from dataclasses import astuple, dataclass
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Final

import llvmlite
from llvmlite import binding

STORE_LIMIT: Final = 200_000_000  # bytes on disk
_LOOK_EVERY: Final = 64  # the size of the whole store is checked once in this many stored objects
_LINKS_EACH: Final = 100  # a linker keeps something of all that it ever linked, so none lasts for long
_STORED: Final = re.compile("[0-9a-f]{64}|new-.*")
_libraries = count()


@dataclass(frozen=True)
class Processor:
    """The machine that code is made for."""

    triple: str
    cpu: str
    features: str

    def machine(self) -> binding.TargetMachine:
        """A code generator.

        In the small code model constants are operands of instructions; in the large one each takes a
        register, most of which are spilled. It wants code and data close together, where `_linker` puts them.
        """
        return binding.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc="pic", codemodel="small", jit=True
        )


@cache
def target() -> Processor:
    """This machine, with its widest registers in use."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features()
    listed = features.flatten()
    if features.get("avx512f"):
        listed += ",-prefer-256-bit"
    return Processor(binding.get_process_triple(), binding.get_host_cpu_name(), listed)


@lru_cache(maxsize=1)
def _linker(number: int) -> binding.LLJIT:  # noqa: ARG001
    """The linker of a number; an earlier one is freed with the last kernel that it linked."""
    return binding.create_lljit_compiler(target().machine(), use_jit_link=True, suppress_errors=True)


class Compiled:
    """Code in memory, for as long as this object is."""

    def __init__(self, code: bytes) -> None:
        number = next(_libraries)
        self._linker = _linker(number // _LINKS_EACH)
        self._name = f"kernels-{number}"
        builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
        # whichever of these is deleted takes the code with it
        self._trackers = [builder.link(self._linker, self._name)]

    def address(self, name: str) -> int:
        """The address of a function."""
        try:
            found = self._linker.lookup(self._name, name)
        except RuntimeError as error:
            raise KeyError(f"the module has no function {name!r}: {error}") from error
        self._trackers.append(found)
        return found[name]


@lru_cache(maxsize=256)
def compile_module(text: str) -> Compiled:
    """The code of a module in LLVM's text form; compiled only if neither this process nor the disk has it."""
    file = _stored_at(text)
    stored = _read(file)
    if stored is not None:
        with contextlib.suppress(RuntimeError):  # what the linker cannot read is compiled anew
            return Compiled(stored)
    code = _object_code(text)
    _write(file, code)
    return Compiled(code)


def _object_code(text: str) -> bytes:
    """Compile a module.

    Vectors are explicit, nothing is written twice, and values are not in memory: of LLVM's passes, these two
    have all the effect on run times, in a tenth of the time.
    """
    machine = target().machine()
    module = binding.parse_assembly(text)
    module.verify()
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=3))
    passes = binding.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return machine.emit_object(module)


# The store: a file is the checksum of the code, and the code


def store() -> Path | None:
    """`$EVOPINN_CACHE`, or `evopinn/kernels` where the platform keeps caches; None without a home."""
    if chosen := os.environ.get("EVOPINN_CACHE"):
        with contextlib.suppress(RuntimeError):
            return Path(chosen).expanduser()
    variable, default = {
        "win32": ("LOCALAPPDATA", "~/AppData/Local"),
        "darwin": ("", "~/Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", "~/.cache"))
    try:
        base = Path(os.environ.get(variable) or default).expanduser()
    except RuntimeError:
        return None
    return base / "evopinn" / "kernels"


def _stored_at(text: str) -> Path | None:
    directory = store()
    if directory is None:
        return None
    made_of = (text, *astuple(target()), llvmlite.__version__, repr(binding.llvm_version_info))
    return directory / hashlib.sha256("\0".join(made_of).encode()).hexdigest()


def _checksum(file: Path, code: bytes) -> bytes:
    """A checksum of the code and its source, so that a file in another's place is not read."""
    return hashlib.sha256(file.name.encode() + code).digest()


def _read(file: Path | None) -> bytes | None:
    """The stored code; None if it is missing or damaged, or if others may have written it."""
    if file is None or not file.is_file():
        return None
    try:
        with file.open("rb") as opened:
            stored = opened.read() if _is_own(opened.fileno()) else b""
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    checksum, code = stored[:size], stored[size:]
    return code if checksum == _checksum(file, code) else None


def _is_own(descriptor: int) -> bool:
    """Whether a file is ours and only we can write to it, because its contents will be run."""
    if sys.platform == "win32":
        return True  # the directory is closed to others there
    status = os.fstat(descriptor)
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _write(file: Path | None, code: bytes) -> None:
    """Store the code if possible: under another name first, so that no process reads a part of it."""
    if file is None:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix="new-")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as opened:
                opened.write(_checksum(file, code) + code)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
        if int(file.name[:8], 16) % _LOOK_EVERY == 0:
            shrink(file.parent, STORE_LIMIT)


def shrink(directory: Path, limit: int) -> None:
    """Delete the oldest stored kernels until the others take at most `limit` bytes, and nothing else."""
    entries = [(entry, entry.stat()) for entry in directory.iterdir() if _STORED.fullmatch(entry.name)]
    total = 0
    for entry, status in sorted(entries, key=lambda pair: pair[1].st_mtime_ns, reverse=True):
        total += status.st_size
        if total > limit:
            entry.unlink(missing_ok=True)
