# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compile CUDA C++ to PTX with NVRTC, wherever a toolkit or NVIDIA's Python packages provide it.

nvrtc.py --find
nvrtc.py --source FILE --architecture 90 --option=-lineinfo --out FILE.ptx
"""

from __future__ import annotations

import argparse
import ctypes
import glob
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

OLDEST_MAJOR = 13


class CompilerError(Exception):
    """An error: NVRTC was not found, or refused a source."""


class Compiler:
    """NVRTC, loaded from the first folder that contains it."""

    def __init__(self) -> None:
        self.root, path = _find()
        # NVRTC opens its second library by name. If it is already loaded, the search path does not
        # matter.
        for builtins in sorted(glob.glob(str(path.parent / "libnvrtc-builtins.so*"))):
            ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
            break
        self._library = ctypes.CDLL(str(path))
        self.path = path

    @property
    def include_folders(self) -> list[Path]:
        """The folders of CUDA's and CCCL's headers."""
        folders = [self.root / "include", self.root / "include" / "cccl"]
        return [folder for folder in folders if folder.is_dir()]

    @property
    def has_cccl(self) -> bool:
        """Whether CCCL's headers were found."""
        return any((folder / "cub" / "version.cuh").is_file() for folder in self.include_folders)

    def compile(self, source: Path, architecture: str, options: Sequence[str] = ()) -> str:
        """Return the PTX of one file, compiled for compute_<architecture>."""
        arguments = [f"--gpu-architecture=compute_{architecture}", "-std=c++17", "-w"]
        arguments += [f"-I{folder}" for folder in [source.parent, *self.include_folders]]
        arguments += options
        library = self._library
        program = ctypes.c_void_p()
        text = source.read_bytes()
        self._call(
            "nvrtcCreateProgram", ctypes.byref(program), text, source.name.encode(), 0, None, None
        )
        try:
            array = (ctypes.c_char_p * len(arguments))(*[each.encode() for each in arguments])
            if library.nvrtcCompileProgram(program, len(arguments), array) != 0:
                log = self._text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program)
                raise CompilerError(f"{source} does not compile for {architecture}:\n{log}")
            return self._text("nvrtcGetPTXSize", "nvrtcGetPTX", program)
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, size_function: str, function: str, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._call(size_function, program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(function, program, buffer)
        return buffer.value.decode()

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise CompilerError(f"{name} failed with status {status}")


def _roots() -> Iterator[Path]:
    """Yield the folders that may contain include/ and a library folder, best first."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    environments = [Path(__file__).resolve().parents[3] / ".venv"]
    if os.environ.get("VIRTUAL_ENV"):
        environments.insert(0, Path(os.environ["VIRTUAL_ENV"]))
    packages = [
        folder for each in environments for folder in each.glob("lib/python3*/site-packages")
    ]
    packages += [Path(folder) for folder in sys.path if folder]
    for folder in packages:
        yield from sorted(folder.glob("nvidia/cu1[3-9]"), reverse=True)
    yield Path("/usr/local/cuda")


def _find() -> tuple[Path, Path]:
    looked = []
    for root in _roots():
        for folder in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
            for path in sorted((root / folder).glob("libnvrtc.so.*"), key=lambda p: len(p.name)):
                major = path.name.removeprefix("libnvrtc.so.").split(".")[0]
                if major.isdigit() and int(major) >= OLDEST_MAJOR:
                    return root, path
        looked.append(str(root))
    raise CompilerError(
        f"no libnvrtc.so.{OLDEST_MAJOR} or newer; set CUDA_HOME or run tools/bootstrap. Looked in: "
        + ", ".join(looked)
    )


def main() -> int:
    """Compile one source for the build, or print where NVRTC is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--find", action="store_true", help="print what was found, and stop")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--architecture")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    try:
        compiler = Compiler()
        if arguments.find:
            print(f"{compiler.path};{'cccl' if compiler.has_cccl else ''}")
            return 0
        text = compiler.compile(arguments.source, arguments.architecture, arguments.option)
    except CompilerError as error:
        print(error, file=sys.stderr)
        return 1
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
