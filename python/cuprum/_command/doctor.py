# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum doctor``: what would stop a program on this machine, each with the way out."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from cuprum._command import FAILURE, SUCCESS
from cuprum._command.style import Style
from cuprum._display import size

OK, WARNING, PROBLEM = "ok", "warning", "problem"
_MARKS = {OK: ("ok", "green"), WARNING: ("note", "yellow"), PROBLEM: ("FAIL", "red")}

# All variables that Cuprum and its emulated device read, as in docs/environment_variables.md.
_VARIABLES = (
    "CUPRUM_CACHE_DIR",
    "CUPRUM_DISABLE_FAST_PATHS",
    "CUPRUM_DRIVER",
    "CUPRUM_EMULATOR_CHECK",
    "CUPRUM_EMULATOR_CHECK_ACTION",
    "CUPRUM_EMULATOR_CLOCK_EVENTS",
    "CUPRUM_EMULATOR_COMPUTE_CAPABILITY",
    "CUPRUM_EMULATOR_DEVICES",
    "CUPRUM_EMULATOR_DRIVER_VERSION",
    "CUPRUM_EMULATOR_ECC_ERRORS",
    "CUPRUM_EMULATOR_FANS",
    "CUPRUM_EMULATOR_FAN_SPEED",
    "CUPRUM_EMULATOR_ISA",
    "CUPRUM_EMULATOR_JIT",
    "CUPRUM_EMULATOR_JIT_CACHE",
    "CUPRUM_EMULATOR_LEAKS",
    "CUPRUM_EMULATOR_LIBRARY",
    "CUPRUM_EMULATOR_LOG",
    "CUPRUM_EMULATOR_MEMORY",
    "CUPRUM_EMULATOR_MEMORY_CLOCK",
    "CUPRUM_EMULATOR_MULTIPROCESSORS",
    "CUPRUM_EMULATOR_PERFORMANCE_STATE",
    "CUPRUM_EMULATOR_POWER",
    "CUPRUM_EMULATOR_POWER_LIMIT",
    "CUPRUM_EMULATOR_PTXAS_RELEASE",
    "CUPRUM_EMULATOR_RUNTIME_DIR",
    "CUPRUM_EMULATOR_SCHEDULE",
    "CUPRUM_EMULATOR_SM_CLOCK",
    "CUPRUM_EMULATOR_TEMPERATURE",
    "CUPRUM_EMULATOR_WATCHDOG",
    "CUPRUM_EMULATOR_WORKERS",
    "CUPRUM_LIBDEVICE",
    "CUPRUM_LOG",
    "CUPRUM_NVFATBIN",
    "CUPRUM_NVJITLINK",
    "CUPRUM_NVML",
    "CUPRUM_NVRTC",
    "CUPRUM_NVTX",
    "CUPRUM_NVVM",
    "CUPRUM_PER_THREAD_DEFAULT_STREAM",
    "CUPRUM_PROGRAM_CACHE",
    "CUPRUM_PROGRESS",
    "CUPRUM_TRACE",
)
# Those that name a library or a file.
_FILES = (
    "CUPRUM_EMULATOR_LIBRARY",
    "CUPRUM_LIBDEVICE",
    "CUPRUM_NVFATBIN",
    "CUPRUM_NVJITLINK",
    "CUPRUM_NVML",
    "CUPRUM_NVRTC",
    "CUPRUM_NVVM",
)
_SMALL_BYTES = 64 << 20
_SOURCE = 'extern "C" __global__ void add_one(int* data) { data[threadIdx.x] += 1; }'
# The same kernel for machines without a compiler.
_PTX = """\
.version 6.4
.target sm_{target}
.address_size 64

.visible .entry add_one(.param .u64 data)
{{
    .reg .b64 %address, %offset;
    .reg .b32 %thread, %value;
    ld.param.u64 %address, [data];
    cvta.to.global.u64 %address, %address;
    mov.u32 %thread, %tid.x;
    mul.wide.u32 %offset, %thread, 4;
    add.s64 %address, %address, %offset;
    ld.global.u32 %value, [%address];
    add.u32 %value, %value, 1;
    st.global.u32 [%address], %value;
    ret;
}}
"""
# Newer devices run PTX for this target as well, and drivers of CUDA 13 load nothing older.
_MAX_PTX_TARGET = 75
# What does not work without a library.
_NEEDED_FOR = {
    "NVRTC": "CUDA C++ does not compile; PTX and code that was compiled before do run",
    "nvJitLink": "only the driver links code, and LTO-IR does not link",
    "NVVM": "NVVM IR does not compile",
}


@dataclasses.dataclass
class Finding:
    """The result of one check."""

    check: str
    status: str
    text: str
    advice: str = ""


def run(is_json: bool) -> int:
    """Print what the checks found; return 1 if something would stop a program."""
    findings = list(examine())
    is_healthy = all(finding.status != PROBLEM for finding in findings)
    if is_json:
        report = {
            "healthy": is_healthy,
            "findings": [dataclasses.asdict(finding) for finding in findings],
        }
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(render(findings, Style(sys.stdout))))
    return SUCCESS if is_healthy else FAILURE


def examine() -> Iterator[Finding]:
    """Run all checks. A check that fails itself is a finding, too."""
    has_device = True
    for name, check in _CHECKS.items():
        if name in _NEED_DEVICE and not has_device:
            continue  # the driver's own finding says why
        try:
            for finding in check(name):
                has_device = has_device and (name != "driver" or finding.status != PROBLEM)
                yield finding
        except Exception as error:
            first, *rest = str(error).splitlines() or [type(error).__name__]
            advice = "\n".join(rest) or "the error above names the reason"
            yield Finding(name, PROBLEM, first, advice)


def render(findings: list[Finding], style: Style) -> list[str]:
    """Return the findings as lines of text."""
    width = max(len(finding.check) for finding in findings)
    lines = []
    for finding in findings:
        mark, colour = _MARKS[finding.status]
        first, *rest = finding.text.splitlines()
        lines.append(f"{style(f'{mark:4}', colour, 'bold')}  {finding.check:{width}}  {first}")
        indent = " " * (width + 8)
        lines += [indent + line.strip() for line in rest]
        for number, line in enumerate(finding.advice.splitlines()):
            lines.append(indent + style("-> " if number == 0 else "   ", "bold") + line.strip())
    problems = sum(finding.status == PROBLEM for finding in findings)
    if problems == 0:
        lines += ["", style("nothing here would stop a program", "green")]
    else:
        amount = "1 problem" if problems == 1 else f"{problems} problems"
        lines += ["", style(f"{amount} would stop a program", "red")]
    return lines


# ---- checks --------------------------------------------------------------------------------------


def _check_driver(name: str) -> Iterator[Finding]:
    import cuprum
    from cuprum._command.run import find_command

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            version = cuprum.driver_version()
            count = len(cuprum.Device.get_all_devices())
        except Exception as error:
            advice = "CUPRUM_DRIVER=emulated chooses the emulated device, which needs no GPU"
            if find_command() is None:
                advice = (
                    "pip install cuprum-emulator installs the emulated device, which needs no GPU"
                )
            yield Finding(name, PROBLEM, str(error), _lines(_advice_about_gpus(), advice))
            return
    text = f"CUDA {version // 1000}.{version % 1000 // 10}, {cuprum.driver_description()}"
    if fallback := [str(each.message) for each in caught if "no GPU can be used" in str(each)]:
        reason, _, way_out = fallback[0].partition("; ")
        yield Finding(name, WARNING, reason, _lines(_advice_about_gpus(), way_out))
    else:
        yield Finding(name, OK, text)
    devices = f"{count} device" + "s" * (count != 1)
    if count == 0:
        yield Finding("devices", PROBLEM, devices, _advice_about_gpus())
    else:
        yield Finding("devices", OK, f"{devices}: {cuprum.Device(0).name}")


def _check_memory(name: str) -> Iterator[Finding]:
    import cuprum

    for device in cuprum.Device.get_all_devices():
        free, total = device.memory_info
        text = f"device {device.device_id}: {free >> 20} of {total >> 20} MiB are free"
        if free < _SMALL_BYTES:
            advice = (
                "CUPRUM_EMULATOR_MEMORY sets the size"
                if device.is_emulated
                else "end processes that use it: cuprum top shows them"
            )
            yield Finding(name, WARNING, text, advice)
        else:
            yield Finding(name, OK, text)


def _check_libraries(name: str) -> Iterator[Finding]:
    from cuprum import _cuprum
    from cuprum._command.info import ADVICE

    del name
    for library in _cuprum.compiler_libraries():
        if library.path:
            yield Finding(library.name, OK, f"{library.version}, {library.path}")
        else:
            # NOTE: no problem, because programs that load PTX need no compiler.
            # The rest of the reason repeats the advice.
            reason = (library.problem or "not found").splitlines()[0].partition("; ")[0]
            text = _lines(reason, _NEEDED_FOR.get(library.name, ""))
            yield Finding(library.name, WARNING, text, ADVICE.get(library.name, ""))


def _check_versions(name: str) -> Iterator[Finding]:
    import cuprum
    from cuprum import _cuprum

    if cuprum.Device(0).is_emulated:
        return
    driver = cuprum.driver_version()
    for library in _cuprum.compiler_libraries():
        match = re.match(r"(\d+)\.(\d+)", library.version)
        if library.name != "NVRTC" or match is None:
            continue
        compiler = int(match[1]) * 1000 + int(match[2]) * 10
        if compiler > driver:
            yield Finding(
                name,
                WARNING,
                f"NVRTC {library.version} is newer than the driver, which supports CUDA "
                f"{driver // 1000}.{driver % 1000 // 10}: its PTX does not load",
                "update the driver, use an older NVRTC, or compile to a cubin",
            )
        else:
            yield Finding(name, OK, "the compiler is not newer than the driver")


def _check_headers(name: str) -> Iterator[Finding]:
    import cuprum

    if not _has_compiler():
        return  # its own finding says what to install
    folders = [Path(folder) for folder in cuprum.default_include_directories()]
    for header, use in (("cuda_fp16.h", "half precision"), ("cuda/std/array", "CCCL")):
        place = next((folder for folder in folders if (folder / header).is_file()), None)
        if place is None:
            yield Finding(
                name,
                WARNING,
                f"kernels cannot include <{header}> ({use})",
                "pip install 'cuprum[cuda13]', or install a CUDA toolkit and set CUDA_HOME",
            )
        else:
            yield Finding(name, OK, f"<{header}> in {place}")


def _check_kernel(name: str) -> Iterator[Finding]:
    """Compile a kernel, or load its PTX, then run it and look at its result."""
    import cuprum

    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    done = "compiled and run" if _has_compiler() else "PTX was loaded and run"
    if _has_compiler():
        code = cuprum.Program(_SOURCE, "c++").compile("ptx")
    else:
        code = cuprum.ObjectCode.from_ptx(_ptx_for(device.compute_capability))
    kernel = code.get_kernel("add_one")
    data = bytearray(range(128))
    with device.allocate(len(data), stream=stream) as buffer:
        buffer.copy_from_host(bytes(data), stream=stream)
        cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
        buffer.copy_to_host(data, stream=stream)
        stream.sync()
    expected = b"".join(
        (int.from_bytes(bytes(range(i, i + 4)), "little") + 1).to_bytes(4, "little")
        for i in range(0, 128, 4)
    )
    if bytes(data) == expected:
        yield Finding(name, OK, f"{done}, the result is right")
    else:
        yield Finding(name, PROBLEM, f"{done}, but the result is wrong", "report this")


def _check_nvml(name: str) -> Iterator[Finding]:
    try:
        from cuprum import system

        version = ".".join(map(str, system.get_nvml_version()))
    except Exception as error:
        first = str(error).splitlines()[0].removesuffix("; tried:")
        yield Finding(name, WARNING, first, "cuprum top and cuprum.system need it")
    else:
        yield Finding(name, OK, f"{version}, {system.get_library_path()}")


def _check_settings(name: str) -> Iterator[Finding]:
    unknown = [key for key in os.environ if key.startswith("CUPRUM_") and key not in _VARIABLES]
    for key in sorted(unknown):
        near = difflib.get_close_matches(key, _VARIABLES, 1)
        advice = f"did you mean {near[0]}?" if near else "unset it"
        yield Finding(name, WARNING, f"{key} is set, but nothing reads it", advice)
    for key in _FILES:
        file = os.environ.get(key, "")
        problem = ""
        if file and key != "CUPRUM_LIBDEVICE" and not Path(file).is_absolute():
            problem = "which is ignored: it is not an absolute path"
        elif file and not os.path.isfile(file):  # unlike Path.is_file(), it never raises
            problem = "but there is no such file"
        if problem:
            text = f"{key} is '{file}', {problem}"
            yield Finding(name, WARNING, text, "correct the path, or unset the variable")
    if os.environ.get("CUDA_VISIBLE_DEVICES", "x").strip() in ("", "-1", "NoDevFiles"):
        yield Finding(
            name,
            WARNING,
            "CUDA_VISIBLE_DEVICES hides every GPU",
            "unset it, or list the GPUs to use: CUDA_VISIBLE_DEVICES=0",
        )
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if Path(folder).name == "stubs" and (Path(folder) / "libcuda.so.1").exists():
            yield Finding(
                name,
                PROBLEM,
                f"LD_LIBRARY_PATH has {folder}, whose libcuda.so.1 is for linking only",
                "remove the folder from LD_LIBRARY_PATH",
            )
    if not unknown:
        yield Finding(name, OK, "every variable CUPRUM_* is known")


def _check_cache(name: str) -> Iterator[Finding]:
    from cuprum._command import cache

    folder = cache.default_folder()
    place = folder
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK | os.X_OK):
        yield Finding(
            name,
            WARNING,
            f"programs cannot keep compiled code in {folder}: {place} is not writable",
            "set CUPRUM_CACHE_DIR to a folder that you can write to",
        )
        return
    try:
        facts = cache.describe(folder, is_named=False)
    except Exception as error:
        yield Finding(
            name, WARNING, str(error).splitlines()[0], "set CUPRUM_CACHE_DIR to another folder"
        )
        return
    yield Finding(name, OK, f"{folder}, {size(facts['size_bytes'])}")


def _has_compiler() -> bool:
    """Return whether NVRTC was found."""
    from cuprum import _cuprum

    return any(each.name == "NVRTC" and each.path for each in _cuprum.compiler_libraries())


def _ptx_for(capability: tuple[int, int]) -> bytes:
    """Return PTX that a device of this compute capability runs."""
    major, minor = capability
    return _PTX.format(target=min(10 * major + minor, _MAX_PTX_TARGET)).encode()


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _advice_about_gpus() -> str:
    """Return what this machine says about GPUs that a program cannot use."""
    nodes = sorted(Path("/dev").glob("nvidia[0-9]*"))
    closed = [str(node) for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        return f"you may not open {closed[0]}: ask for access, often by the group video or render"
    if Path("/proc/driver/nvidia/version").exists() and not nodes:
        return (
            "the machine has an NVIDIA driver, but no /dev/nvidia*: in a container, start it with "
            "--gpus all"
        )
    if not Path("/proc/driver/nvidia/version").exists():
        return "for a GPU, install the NVIDIA driver"
    return ""


_CHECKS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "settings": _check_settings,
    "driver": _check_driver,
    "memory": _check_memory,
    "compilers": _check_libraries,
    "versions": _check_versions,
    "headers": _check_headers,
    "kernel": _check_kernel,
    "NVML": _check_nvml,
    "cache": _check_cache,
}
_NEED_DEVICE = ("memory", "versions", "kernel")
