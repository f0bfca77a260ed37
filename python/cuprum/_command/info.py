# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``cuprum info``: which devices, driver and compilers there are, and what is missing."""

from __future__ import annotations

import json
import platform
import warnings

_ADVICE = {
    "NVRTC": "pip install 'cuprum[cuda13]', or install a CUDA toolkit and set CUDA_HOME",
    "NVVM": "pip install nvidia-nvvm, or install a CUDA toolkit and set CUDA_HOME",
    "nvJitLink": "pip install 'cuprum[cuda13]', or install a CUDA toolkit and set CUDA_HOME",
}


def run(is_json: bool) -> int:
    """Print the facts; return 0 if there is a device, else 1."""
    facts = collect()
    if is_json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(render(facts)))
    return 0 if facts["devices"] else 1


def collect() -> dict:
    """Return all facts as plain values."""
    import cuprum
    from cuprum import _cuprum

    facts: dict = {
        "cuprum": cuprum.__version__,
        "python": platform.python_version(),
        "driver": None,
        "devices": [],
        "libraries": [],
        "fast_paths": _cuprum.fast_paths(),
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
            facts["problems"].append(f"{library.problem}\n{_ADVICE.get(library.name, '')}".strip())
    return facts


def render(facts: dict) -> list[str]:
    """Return the facts as lines of text."""
    lines = [f"cuprum {facts['cuprum']}, Python {facts['python']}"]
    if facts["driver"]:
        lines.append(f"driver: CUDA {facts['driver']['cuda']}, {facts['driver']['description']}")
    else:
        lines.append("driver: none")
    for device in facts["devices"]:
        lines.append(
            f"device {device['id']}: {device['name']}, compute capability "
            f"{device['compute_capability']}, {device['multiprocessors']} multiprocessors, "
            f"{device['memory_bytes'] / 2**30:.1f} GiB" + (", emulated" * device["is_emulated"])
        )
    for library in facts["libraries"]:
        found = f"{library['version']}, {library['path']}" if library["path"] else "not found"
        lines.append(f"{library['name']}: {found}")
    lines.append("fast paths: " + ", ".join(map(" ".join, facts["fast_paths"].items())))
    lines += [f"note: {problem}" for problem in facts["problems"]]
    return lines


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
