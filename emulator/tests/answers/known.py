# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The answers in which the emulated device differs from the recorded driver, with the reasons."""

from typing import NamedTuple


class Difference(NamedTuple):
    """Lines of a group ("" for all groups) that match a pattern from their beginning."""

    group: str
    pattern: str
    reason: str


# "attributes" says what the recorded GPU is, rather than what its driver accepts. The others were
# asked in another way when they were recorded.
IGNORED_GROUPS = {
    "attributes",
    "deferred arrays",
    "sparse arrays",
    "sparse mipmaps",
}

SPARSE = "sparse arrays are not supported"

DIFFERENCES = (
    Difference("", r".*sparse", SPARSE),
    Difference("limits", r"[23]d flag 0x40:", SPARSE),
    Difference("memory", r"\(make\)", SPARSE),
    Difference("requirements", r"mipmap flags 6[45]", SPARSE),
    Difference("textures of mipmaps", r"\(make\)", SPARSE),
    Difference("limits", r"2d flag 0x80000000:", "the flag has no name in cuda.h"),
    Difference("limits", r"too much memory:", "the recorded GPU has more memory"),
    Difference("requirements", r".* requirements: ok", "arrays are stored in rows, not in tiles"),
    Difference("wrong kind", r"descriptor of a mipmap", "handles are checked"),
    Difference(
        "other context", r"describe an array of a destroyed", "the handle is not known any more"
    ),
    Difference("copies in three dimensions", r"3D reserved:", "cuda.h says that it must be NULL"),
    Difference("graphs", r"captured node:", "of a single slice, the height is not kept"),
    Difference(
        "launch with unbound references", r"sync:", "a read of what is not bound is reported"
    ),
    Difference("options of the compiler", r"(optimization 5|threads 1025):", "it means nothing"),
    Difference("other flags", r"(granularity of device 99|exchange mode 77):", "it means nothing"),
    Difference("reserved fields", r"split (4|77):", "it means nothing"),
    Difference("other flags", r"flush ", "emulated devices have no GPUDirect RDMA"),
    Difference("samplers", r"an object fits in 32 bits", "objects have 64 bits in cuda.h"),
)
