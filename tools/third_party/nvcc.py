# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compile a program with nvcc and run it on the emulated device, as one job.

The job is a process of its own: ``python -m third_party.nvcc SPECIFICATION.json``. Objects are
kept, so nvcc compiles each source once. The recorded time is the program's, without the compiler.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from third_party.jobs import FAILED, PASSED, SKIPPED, TOOLS, Job, Judge, Outcome, last_line
from third_party.jobs import name_of_status as status_text
from third_party.library import InstallationError, Place

BUILD_FAILED = 125
TOO_LONG = 124
#: Compiling is slower than running. A job that waits for nvcc is not stuck.
COMPILE_LIMIT_S = 1800.0
KINDS = {"object": ("-c", "o"), "ptx": ("-ptx", "ptx"), "fatbin": ("-fatbin", "fatbin")}


@dataclasses.dataclass
class Source:
    """A file for nvcc. If `save_as` is given, the result is a file that the program loads."""

    file: str
    options: list[str] = dataclasses.field(default_factory=list)
    kind: str = "object"
    save_as: str = ""


@dataclasses.dataclass
class Program:
    """How one program is built and run."""

    name: str
    nvcc: str
    cache: str
    folder: str  # the working directory; made anew for each run
    sources: list[Source]
    link: list[str] = dataclasses.field(default_factory=list)
    data: str = ""  # a folder whose content is copied into the working directory
    links: dict[str, str] = dataclasses.field(default_factory=dict)  # links in that directory
    arguments: list[str] = dataclasses.field(default_factory=list)
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    timeout_s: float = 120.0
    capability: int = 80  # of the PTX; nvcc does not call ptxas then, which saves time


class BuildError(Exception):
    """A program does not compile. The text is the compiler's first error."""


def find_nvcc(major: int = 13) -> Path:
    """Return nvcc of this machine; raise if there is none of the major version."""
    found = os.environ.get("CUPRUM_NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(found).exists():
        raise InstallationError("nvcc was not found; install CUDA's compiler or set CUPRUM_NVCC")
    about = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if f"release {major}." not in about:
        raise InstallationError(f"{found} is not of CUDA {major}; set CUPRUM_NVCC")
    return Path(found)


def make_job(place: Place, program: Program, judge: Judge) -> Job:
    """Return the job that builds and runs a program."""
    file = place.folder / "programs" / f"{_file_name(program.name)}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    command = str(place.emulator / "bin" / "cuprum-emulator")
    file.write_text(json.dumps({**dataclasses.asdict(program), "emulator": command}))
    return Job(
        program.name,
        [sys.executable, "-m", "third_party.nvcc", file],
        place.folder,
        environment={"PYTHONPATH": str(TOOLS)},
        timeout_s=program.timeout_s + COMPILE_LIMIT_S,
        judge=judge,
        emulated=False,  # nvcc runs as it is; the program is started by `cuprum-emulator run`
    )


def skipped_job(place: Place, name: str, why: str) -> Job:
    """Return a job for a program that is not run, and says why."""
    return Job(
        name,
        ["true"],
        place.folder,
        judge=lambda job, _status, _output: [Outcome(job.name, SKIPPED, why)],
        emulated=False,
    )


def judge_by_status(job: Job, status: int, output: str) -> list[Outcome]:
    """Judge a program by its exit status, and find a line that explains a failure."""
    seconds = seconds_of(output)
    if status == 0:
        return [Outcome(job.name, PASSED, "", seconds)]
    return [Outcome(job.name, FAILED, cause_of(status, output), seconds)]


def seconds_of(output: str) -> float:
    """Return how long the program ran."""
    found = re.search(r"^third-party: ran ([\d.]+) s", output, re.MULTILINE)
    return float(found[1]) if found else 0.0


def cause_of(status: int, output: str) -> str:
    """Return the line of the output that says most about a failure."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    own = [line.removeprefix("third-party: ") for line in lines if line.startswith("third-party: ")]
    if status in (BUILD_FAILED, TOO_LONG) and own:
        return own[-1]
    lines = [line for line in lines if not line.startswith("third-party: ")]
    for pattern in (
        r"^cuprum[ -]emulator:",
        r"CUDA error|cudaError|CUDA_ERROR|Driver API error|error code",
        r"(?i)\berror\b|fail|mismatch|waiv",
    ):
        for line in lines:
            if re.search(pattern, line):
                return shorten(line)
    end = status_text(128 - status if status > 128 else status)
    return f"{end}: {shorten(last_line(chr(10).join(lines)))}"


def shorten(line: str, width: int = 200) -> str:
    """Return a line without folders, cut to a width."""
    line = re.sub(r"(/[\w.+-]+){2,}/", "", line)
    return line if len(line) <= width else line[: width - 1] + "…"


# ---- the job -------------------------------------------------------------------------------------


def main() -> int:
    """Build and run what a file specifies."""
    fields = json.loads(Path(sys.argv[1]).read_text())
    emulator = fields.pop("emulator")
    sources = [Source(**each) for each in fields.pop("sources")]
    program = Program(**fields, sources=sources)
    try:
        executable = build(program)
    except BuildError as error:
        print(f"third-party: does not compile: {error}")
        return BUILD_FAILED
    return run(program, [emulator, "run", str(executable)])


def build(program: Program) -> Path:
    """Compile and link a program into a new working directory."""
    made = [(source, compile_source(program, source)) for source in program.sources]
    folder = Path(program.folder)
    shutil.rmtree(folder, ignore_errors=True)
    if program.data:
        shutil.copytree(program.data, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in program.links.items():
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to(target)
    for source, file in made:
        if source.save_as:
            shutil.copy(file, folder / source.save_as)
    executable = folder / _file_name(program.name)
    objects = [str(file) for source, file in made if not source.save_as]
    linked = [*objects, *program.link, "-o", str(executable)]
    call_compiler([program.nvcc, *_options(program), "-cudart", "shared", *linked])
    return executable


def compile_source(program: Program, source: Source) -> Path:
    """Compile a file, unless that was done before with the same options."""
    option, suffix = KINDS[source.kind]
    command = [program.nvcc, *_options(program, source.kind), *source.options, option, source.file]
    about = "\0".join(command).encode() + Path(source.file).read_bytes()
    key = hashlib.sha256(about).hexdigest()[:24]
    target = Path(program.cache) / f"{Path(source.file).stem}-{key}.{suffix}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{os.getpid()}-{target.name}")
        call_compiler([*command, "-o", str(partial)])
        partial.rename(target)
    return target


def call_compiler(command: Sequence[str]) -> None:
    """Run nvcc; raise with its first error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"error|undefined|fatal|No such", line)]
        raise BuildError(shorten((errors or lines or ["nvcc failed"])[0]))


def run(program: Program, command: Sequence[str]) -> int:
    """Run the program; end it and its children after its time limit."""
    environment = {"CUPRUM_EMULATOR_LOG": "error", **os.environ, **program.environment}
    sys.stdout.flush()
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, *program.arguments],
        cwd=program.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        status = process.wait(program.timeout_s)
    except subprocess.TimeoutExpired:
        status = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    print(f"\nthird-party: ran {time.monotonic() - began:.2f} s")
    if status is None:
        print(f"third-party: ran longer than {program.timeout_s:g} s")
        return TOO_LONG
    return status if status >= 0 else 128 - status


def _options(program: Program, kind: str = "object") -> list[str]:
    virtual = f"compute_{program.capability}"
    architecture = (
        [f"-arch={virtual}"] if kind == "ptx" else ["-gencode", f"arch={virtual},code={virtual}"]
    )
    return ["-allow-unsupported-compiler", "-Wno-deprecated-gpu-targets", "-w", *architecture]


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", ".", name)


if __name__ == "__main__":
    sys.exit(main())
