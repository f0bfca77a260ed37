# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run suites of kernels on a device; record their results, or compare them with recorded ones."""

from __future__ import annotations

import argparse
import json
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import cases_groups  # noqa: F401 (importing registers the cases)
import cases_language  # noqa: F401
import cases_library  # noqa: F401
import cases_matrices  # noqa: F401
import cases_self_checked  # noqa: F401
import cases_small_floats  # noqa: F401
from access_programs import AccessProgram
from accesses import run_accesses
from case import CASES, Case, CaseError, Run, compare_results
from driver import Device, DriverError, Shape, argument
from instructions import THREADS as THREADS_OF_FORM
from instructions import Outcome, operands, run_forms
from known import KEY as INSTRUCTIONS
from known import compare_with_known, known_differences, split_recorded
from matrices import run_matrices
from matrix_sums import run_matrix_sums
from nvrtc import Compiler
from programs import BLOCKS, REGISTERS, THREADS, Program
from tensors import digest, run_tensors_apart
from texture_references import run_references, run_traps
from textures import KEY as TEXTURES
from textures import dump, record, run_textures
from warpgroup_sums import run_sums
from warpgroups import run_warpgroups

ROOT = Path(__file__).resolve().parents[3]
SUITES = (
    "corpus",
    "instructions",
    "accesses",
    "matrices",
    "warpgroups",
    "tensors",
    "programs",
    "textures",
)
TENSORS = "tensors"
TENSOR_CAPABILITY = 90
SOURCES = ROOT / "emulator" / "tests" / "corpus"


@dataclass
class Report:
    """The results of a run."""

    results: dict[str, dict[str, object]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    not_recorded: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, key: str, where: str, results: dict[str, object]) -> None:
        """Keep the results of a case; all architectures must give the same results."""
        self.count += 1
        if key in self.results:
            known = self.results[key]
            common = {name: value for name, value in results.items() if name in known}
            for line in compare_results(known, common):
                self.failures.append(f"{where}: differs between architectures: {line}")
            known.update(results)
        else:
            self.results[key] = dict(results)


def main() -> int:
    """Run the suites that the command line selects."""
    arguments = parse_arguments()
    device = Device(arguments.driver)
    print(f"{device.name}, compute capability {device.compute_capability}")
    started = time.monotonic()
    report = Report()
    recorded = json.loads(arguments.compare.read_text()) if arguments.compare else None
    capability = device.compute_capability
    if recorded:  # that device supported nothing newer
        capability = min(capability, recorded["compute_capability"])
    done = recorded["results"] if recorded and arguments.new_only else {}
    if "corpus" in arguments.suites:
        cases = [each for each in CASES if each.key not in done]
        for text in texts(arguments, device.compute_capability, {each.source for each in cases}):
            run_text(device, text, cases, report)
    if "instructions" in arguments.suites:
        outcomes = run_instructions(device, capability, {*done.get(INSTRUCTIONS, ())}, report)
        if arguments.dump:
            arguments.dump.write_text(json.dumps({o.form.text: o.values for o in outcomes}))
        if arguments.explain:
            explain(outcomes, json.loads(arguments.explain.read_text()))
    defined = {
        "accesses": run_accesses,
        "matrices": run_matrices_and_sums,
        "warpgroups": run_warpgroups_and_sums,
    }
    for suite, run_suite in defined.items():
        if suite not in arguments.suites:
            continue
        for name, problem in run_suite(device, device.compute_capability):
            report.count += 1
            if problem:
                report.failures.append(f"{name}: {problem}")
    if "tensors" in arguments.suites and device.compute_capability >= TENSOR_CAPABILITY:
        copied = read_bytes(arguments.dump_tensors)
        known = {*done.get(TENSORS, ()), *copied}
        copied.update(run_tensors_apart(arguments.driver, arguments.tensors or [], known))
        for name, content in copied.items():
            report.add(TENSORS, name, {name: digest(content)})
        if arguments.dump_tensors:
            write_bytes(arguments.dump_tensors, copied)
    if "textures" in arguments.suites:
        results = dict(run_all_textures(device, {*done.get(TEXTURES, ())}))
        for name, result in results.items():
            report.add(TEXTURES, name, {name: record(result)})
        if arguments.dump_textures:
            dump(arguments.dump_textures, results)
    if "programs" in arguments.suites:
        run_programs(device, arguments.seed, arguments.programs, report)
    if recorded:
        compare(arguments, device, recorded["results"], report)
    if arguments.out:
        write_record(arguments.out, device, merged(recorded if done else None, device, report))
    for failure in report.failures:
        print(f"FAILED {failure}", file=sys.stderr)
    for name in report.not_recorded:
        print(f"not recorded yet: {name}")
    took = time.monotonic() - started
    counts = f"{report.count} cases, {len(report.failures)} failures"
    print(f"{counts}, {len(report.not_recorded)} not recorded yet, {took:.1f} s")
    return 1 if report.failures or report.count == 0 else 0


def run_matrices_and_sums(device: Device, capability: int) -> Iterator[tuple[str, str | None]]:
    """Run products of matrices: exact ones, and then sums that are cut off."""
    yield from run_matrices(device, capability)
    if capability == 90:
        yield from run_matrix_sums(device)


def run_warpgroups_and_sums(device: Device, capability: int) -> Iterator[tuple[str, str | None]]:
    """Run products of warpgroups: exact ones, and then sums that are cut off."""
    yield from run_warpgroups(device, capability)
    if capability == 90:
        yield from run_sums(device)


def compare(
    arguments: argparse.Namespace, device: Device, recorded: dict[str, dict], report: Report
) -> None:
    """Compare results with recorded ones; list the results that are not recorded."""
    known = known_differences(arguments.compare, device.name)
    every = {name for key in (INSTRUCTIONS, TEXTURES) for name in recorded.get(key, ())}
    report.failures += [f"{name} is a known difference, but not a form" for name in known - every]
    for key, results in report.results.items():
        if key in (INSTRUCTIONS, TEXTURES):
            results, missing = split_recorded(recorded.get(key, {}), results)
            report.not_recorded += missing
            expected = known & {*recorded.get(key, ())}
            if arguments.new_only:
                expected &= {*results}
            lines = compare_with_known(recorded.get(key, {}), results, expected)
        elif key == TENSORS:
            results, missing = split_recorded(recorded.get(key, {}), results)
            report.not_recorded += missing
            lines = compare_results(recorded.get(key, {}), results)
        elif key not in recorded:
            report.not_recorded += [key] if results else []
            continue
        else:
            lines = compare_results(recorded[key], results)
        report.failures += [f"{key}: {line}" for line in lines]


def merged(recorded: dict | None, device: Device, report: Report) -> dict[str, dict]:
    """Return the new results together with those recorded before on the same kind of device."""
    if recorded is None:
        return report.results
    if recorded["device"] != device.name:
        print(f"recorded on {recorded['device']}: results of {device.name} are written alone")
        return report.results
    results = {key: dict(value) for key, value in recorded["results"].items()}
    for key, value in report.results.items():
        results.setdefault(key, {}).update(value)
    return results


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="libcuda.so.1", help="the driver library to use")
    parser.add_argument("--out", type=Path, help="write the results to this file")
    parser.add_argument("--compare", type=Path, help="compare the results with this file")
    parser.add_argument(
        "--suite",
        action="append",
        dest="suites",
        choices=SUITES,
        help="only this suite; may be repeated",
    )
    parser.add_argument(
        "--new-only",
        action="store_true",
        help="run only what the file to compare with lacks, and write its results too",
    )
    parser.add_argument("--dump", type=Path, help="write all bits that instructions gave")
    parser.add_argument(
        "--dump-tensors",
        type=Path,
        help="write all bytes that tensor copies gave; if the file exists, run what it lacks",
    )
    parser.add_argument(
        "--tensors",
        action="append",
        help="only tensor copies whose name starts so, with a minus before it all but them",
    )
    parser.add_argument("--explain", type=Path, help="show where they differ from such a file")
    parser.add_argument("--dump-textures", type=Path, help="write all bytes that textures gave")
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--programs", type=int, default=200, help="how many random programs")
    parser.add_argument("--ptx", type=Path, help="a folder with the compiled corpus")
    parser.add_argument("--source", action="append", help="only this source; may be repeated")
    parser.add_argument("--architecture", action="append", help="only this one; may be repeated")
    arguments = parser.parse_args()
    arguments.suites = arguments.suites or SUITES
    return arguments


@dataclass(frozen=True)
class Text:
    """One compiled source."""

    source: str
    architecture: str
    name: str
    ptx: str


def variants() -> Iterator[tuple[str, str, str]]:
    """Yield source, architecture and compiler option of every line in variants.txt."""
    for line in (SOURCES / "variants.txt").read_text().splitlines():
        source, *words = line.split("#")[0].split() or [""]
        for word in words:
            architecture, _, option = word.partition("-")
            yield source, architecture, option


def texts(arguments: argparse.Namespace, capability: int, with_cases: set[str]) -> Iterator[Text]:
    """Yield the corpus as PTX: from a folder if one is given, else compiled now."""
    compiler = None
    for source, architecture, option in variants():
        if (
            source not in with_cases.intersection(arguments.source or with_cases)
            or architecture not in (arguments.architecture or architecture)
            or not can_run(architecture, capability)
        ):
            continue
        name = f"{source}.{architecture}" + f"-{option}" * bool(option)
        if arguments.ptx:
            ptx = (arguments.ptx / f"{name}.ptx").read_text()
        else:
            compiler = compiler or Compiler()
            options = [f"-{option}"] if option else []
            ptx = compiler.compile(SOURCES / f"{source}.cu", architecture, options)
        yield Text(source, architecture, name, ptx)


def can_run(architecture: str, capability: int) -> bool:
    """Return whether a device runs PTX of an architecture; those with a letter need exactly it."""
    number = int(architecture.rstrip("af"))
    return number == capability if architecture[-1].isalpha() else number <= capability


def run_text(device: Device, text: Text, chosen: list[Case], report: Report) -> None:
    """Run every case of one compiled source."""
    architecture = int(text.architecture.rstrip("af"))
    cases = [c for c in chosen if c.source == text.source and c.oldest <= architecture]
    module = None
    for each in cases:
        where = f"{each.key}, {text.name}"
        try:
            module = module or device.load(text.ptx)
            run = Run(device, module, each.key, architecture)
            each.body(run)
            if run.is_over:
                module = None
            run.close()
            report.add(each.key, where, run.results)
        except (CaseError, DriverError) as error:
            report.failures.append(f"{where}: {error}")
            device.reset()
            module = None
    if module:
        module.unload()


def run_instructions(
    device: Device, capability: int, done: set[str], report: Report
) -> list[Outcome]:
    """Run the kernels of one instruction that a compute capability has, except those in `done`."""
    outcomes = []
    for form, outcome in run_forms(device, capability, done):
        if isinstance(outcome, DriverError):
            report.failures.append(f"{form.text}: {outcome}")
        else:
            report.add(INSTRUCTIONS, form.text, {form.text: outcome.record()})
            outcomes.append(outcome)
    return outcomes


def run_all_textures(device: Device, done: set[str]) -> Iterator[tuple[str, bytes | str]]:
    """Run the kernels on textures and surfaces, except those in `done`."""
    for case, result in run_textures(device, done):
        yield case.name, result
    yield from run_references(device, done)
    yield from run_traps(device, done)


def explain(outcomes: list[Outcome], dumped: dict[str, list[int]]) -> None:
    """Print the operands and both results of the first thread that differs, for each form."""
    for outcome in outcomes:
        form, other = outcome.form, dumped.get(outcome.form.text)
        if other is None or other == outcome.values:
            continue
        index = next(i for i, (a, b) in enumerate(zip(outcome.values, other)) if a != b)
        count = sum(a != b for a, b in zip(outcome.values, other))
        thread = index % THREADS_OF_FORM
        sources = [operands(form, i)[thread] for i in range(len(form.sources))]
        print(
            f"{form.text}: thread {thread} of",
            " ".join(f"{value:#x}" for value in sources),
            f"gives {outcome.values[index]:#x}, there {other[index]:#x} ({count} differ)",
        )


def run_programs(device: Device, seed: int, count: int, report: Report) -> None:
    """Run random programs and compare the results with their evaluation."""
    numbers = range(seed, seed + count)
    for kind, number in product((Program, AccessProgram), numbers):
        program = kind(number)
        address = device.allocate(bytes(len(program.expected)))
        module = device.load(program.text)
        module.launch("program", Shape(BLOCKS, THREADS), [argument(address)])
        got = device.read(address, len(program.expected))
        if got != program.expected:
            report.failures.append(
                f"{kind.__name__} {number}: {first_difference(program.expected, got)}"
            )
        report.count += 1
        device.free(address)
        module.unload()


def first_difference(expected: bytes, got: bytes) -> str:
    """Describe where two sets of registers differ."""
    words = [struct.unpack(f"={len(each) // 4}I", each) for each in (expected, got)]
    index = next(i for i, (a, b) in enumerate(zip(*words)) if a != b)
    thread, register = divmod(index, REGISTERS)
    return f"r{register} of thread {thread} is {words[1][index]:#x}, not {words[0][index]:#x}"


def read_bytes(path: Path | None) -> dict[str, bytes | str]:
    """Read what an earlier run wrote, so that a run can go on after a device was lost."""
    if path is None or not path.exists():
        return {}
    texts = json.loads(zlib.decompress(path.read_bytes()))
    return {name: each if " " in each else bytes.fromhex(each) for name, each in texts.items()}


def write_bytes(path: Path, outcomes: dict[str, bytes | str]) -> None:
    """Write the whole results of tensor copies, compressed."""
    texts = {name: each if isinstance(each, str) else each.hex() for name, each in outcomes.items()}
    path.write_bytes(zlib.compress(json.dumps(texts).encode(), 9))


def write_record(path: Path, device: Device, results: dict[str, dict]) -> None:
    """Write the results, and the device that they were recorded on."""
    record = {
        "device": device.name,
        "compute_capability": device.compute_capability,
        "driver_version": device.driver_version,
        "results": dict(sorted(results.items())),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
