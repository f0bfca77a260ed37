# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Names that ``cuda.core`` had before version 1.0, and what they became."""

from __future__ import annotations

import importlib.metadata
import os
import sys

#: The first version with the names of today.
STABLE = "1.0"
#: What a name of before 1.0 became.
FORMER_NAMES = {
    "Condition": "cuda.core.graph.GraphCondition",
    "DevicePointerT": "cuda.core.typing.DevicePointerType",
    "Graph": "cuda.core.graph.Graph",
    "GraphAllocOptions": "keyword arguments of GraphDefinition.allocate",
    "GraphBuilder": "cuda.core.graph.GraphBuilder",
    "GraphCompleteOptions": "cuda.core.graph.GraphCompleteOptions",
    "GraphCondition": "cuda.core.graph.GraphCondition",
    "GraphDebugPrintOptions": "cuda.core.graph.GraphDebugPrintOptions",
    "GraphDef": "cuda.core.graph.GraphDefinition",
    "GraphDefinition": "cuda.core.graph.GraphDefinition",
    "IsStreamT": "cuda.core.typing.IsStreamType",
}


def advice(name: str) -> str:
    """Return the end of a sentence about a missing name: what it became, if it is a former one."""
    if name not in FORMER_NAMES:
        return ""
    return f"; cuda.core {STABLE} replaced it by {FORMER_NAMES[name]}"


def installed_version(own_folder: str) -> str | None:
    """Return the version of NVIDIA's ``cuda-core`` in the search path, None if there is none."""
    others = [path for path in sys.path if os.path.abspath(path or ".") != own_folder]
    for found in importlib.metadata.distributions(name="cuda-core", path=others):
        return found.version
    return None


def complaint(version: str | None, followed: str) -> str:
    """Return a sentence about an installed version with other names; empty if they are the same."""
    major = (version or STABLE).partition(".")[0]
    if not major.isdigit() or major == followed.partition(".")[0]:
        return ""
    if int(major) < 1:
        return (
            f"cuda-core {version} is installed, but cuprum.drop_in has the names of {followed}: "
            f"names of before {STABLE} such as {', '.join(sorted(FORMER_NAMES)[:3])} and "
            "Buffer.get_ipc_descriptor are missing"
        )
    return (
        f"cuda-core {version} is installed, but cuprum.drop_in has the names of {followed}: newer "
        "names are missing"
    )
