# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What the compiled library requires of the process that loads it."""

import re
import struct

import pytest

import cuprum  # noqa: F401 - loads the libraries

PT_TLS = 7
# The C library reserves about 1600 bytes for the thread-local variables of all libraries that are
# loaded late. When they are used up, imports fail.
MOST_BYTES = 384


def test_the_library_takes_little_of_each_thread():
    sizes = {path: thread_bytes(path) for path in loaded_libraries()}
    assert sizes
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def loaded_libraries():
    """Return the files of the extension module and of libcuprum that this process has loaded."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if len(line.split()) > 5}
    return sorted(path for path in paths if re.search(r"/(_cuprum\.|libcuprum\.so)", path))


def thread_bytes(path):
    """Return how many bytes a library needs per thread, from its ELF header."""
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            pytest.skip(f"{path} is no 64-bit ELF file")
        offset = struct.unpack_from("<Q", header, 32)[0]
        size, count = struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        table = file.read(size * count)
    entries = [struct.unpack_from("<IIQQQQQQ", table, i * size) for i in range(count)]
    return sum(entry[6] for entry in entries if entry[0] == PT_TLS)
