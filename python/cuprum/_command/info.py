# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum info``: which devices, driver and libraries there are, and what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
import warnings

from cuprum._command import FAILURE, SUCCESS
from cuprum._command.style import Style

ADVICE = {
    "NVRTC": "pip install 'cuprum[cuda13]', or install a CUDA toolkit and set CUDA_HOME",
    "NVVM": "pip install nvidia-nvvm, or install a CUDA toolkit and set CUDA_HOME",
    "nvJitLink": "pip install 'cuprum[cuda13]', or install a CUDA toolkit and set CUDA_HOME",
}
# Packages whose objects Cuprum takes, or that it uses.
_PACKAGES = ("numpy", "torch", "cupy", "cuda-bindings", "cuda-core", "rich")


def run(is_json: bool) -> int:
    """Print the facts; return 0 if there is a device, else 1."""
    facts = collect()
    if is_json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(render(facts, Style(sys.stdout))))
    return SUCCESS if facts["devices"] else FAILURE


def collect() -> dict:
    """Return all facts as plain values."""
    import cuprum
    from cuprum import _cuprum

    facts: dict = {
        "cuprum": cuprum.__version__,
        "python": platform.python_version(),
        "packages": _versions(),
        "driver": None,
        "devices": [],
        "libraries": [],
        "nvml": None,
        "fast_paths": _cuprum.fast_paths(),
        "settings": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith("CUPRUM_")
        },
        "problems": [],
    }
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            version = cuprum.driver_version()
            facts["driver"] = {
                "description": cuprum.driver_description(),
                "cuda": f"{version // 1000}.{version % 1000 // 10}",
            }
            facts["devices"] = [_describe(device) for device in cuprum.Device.get_all_devices()]
        facts["problems"] += [str(warning.message) for warning in caught]
    except Exception as error:
        facts["problems"].append(str(error))
    for library in _cuprum.compiler_libraries():
        facts["libraries"].append(
            {"name": library.name, "version": library.version, "path": library.path}
        )
        if library.problem:
            facts["problems"].append(f"{library.problem}\n{ADVICE.get(library.name, '')}".strip())
    try:
        facts["nvml"] = _describe_nvml()
    except Exception as error:
        facts["problems"].append(str(error))
    return facts


def render(facts: dict, style: Style | None = None) -> list[str]:
    """Return the facts as lines of text, coloured if there is a style."""

    def bold(text: str) -> str:
        return style(text, "bold") if style else text

    def yellow(text: str) -> str:
        return style(text, "yellow") if style else text

    versions = [f"{name} {version}" for name, version in facts.get("packages", {}).items()]
    lines = [f"{bold('cuprum')} {facts['cuprum']}, Python {facts['python']}"]
    if versions:
        lines.append(f"{bold('packages')}: {', '.join(versions)}")
    if facts["driver"]:
        found = f"CUDA {facts['driver']['cuda']}, {facts['driver']['description']}"
        lines.append(f"{bold('driver')}: {found}")
    else:
        lines.append(f"{bold('driver')}: {yellow('none')}")
    for device in facts["devices"]:
        name = f"device {device['id']}"
        lines.append(
            f"{bold(name)}: {device['name']}, compute capability "
            f"{device['compute_capability']}, {device['multiprocessors']} multiprocessors, "
            f"{device['memory_bytes'] / 2**30:.1f} GiB" + (", emulated" * device["is_emulated"])
        )
    for library in facts["libraries"]:
        found = (
            f"{library['version']}, {library['path']}" if library["path"] else yellow("not found")
        )
        lines.append(f"{bold(library['name'])}: {found}")
    if nvml := facts.get("nvml"):
        lines.append(f"{bold('NVML')}: {nvml['version']}, {nvml['path']}")
    lines.append(f"{bold('fast paths')}: " + ", ".join(map(" ".join, facts["fast_paths"].items())))
    for name, value in facts.get("settings", {}).items():
        lines.append(f"{bold('setting')}: {name}={value}")
    lines += [f"{yellow('note')}: {problem}" for problem in facts["problems"]]
    return lines


def _versions() -> dict[str, str]:
    """Return the packages that are installed. Imports none of them."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _describe(device: object) -> dict:
    properties = device.properties  # type: ignore[attr-defined]
    capability = device.compute_capability  # type: ignore[attr-defined]
    return {
        "id": device.device_id,  # type: ignore[attr-defined]
        "name": device.name,  # type: ignore[attr-defined]
        "uuid": device.uuid,  # type: ignore[attr-defined]
        "pci_bus_id": device.pci_bus_id,  # type: ignore[attr-defined]
        "compute_capability": f"{capability.major}.{capability.minor}",
        "multiprocessors": properties.multiprocessor_count,
        "memory_bytes": device.total_memory,  # type: ignore[attr-defined]
        "is_emulated": device.is_emulated,  # type: ignore[attr-defined]
    }


def _describe_nvml() -> dict:
    from cuprum import system

    version = ".".join(map(str, system.get_nvml_version()))
    return {"version": version, "path": system.get_library_path()}
