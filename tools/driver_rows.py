# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Read the rows of the emulated device's driver functions from emulator/src/api."""

import re
from pathlib import Path
from typing import NamedTuple

API = Path(__file__).resolve().parent.parent / "emulator" / "src" / "api"
PER_THREAD_CUDA = 7000  # the version that brought the names for per-thread default streams


class Row(NamedTuple):
    """One exported name, such as `cuMemAlloc_v2`."""

    symbol: str
    version: int
    is_implemented: bool

    @property
    def name(self):
        """The public name: without the version and the suffix."""
        return re.sub(r"(_v\d)?(_ptsz|_ptds)?$", "", self.symbol)


def read_rows():
    """Return the rows of all exported names."""
    source = "".join(path.read_text() for path in sorted(API.glob("*.cpp")))
    found = []
    row = r"^(ROW|ANSWER|USE|ALIAS|FORWARD|REFUSE|REFUSE_OLD)(_PTSZ|_PTDS)?\((\w+), (\d+)"
    for kind, suffix, symbol, version in re.findall(row, source, re.M):
        is_implemented = not kind.startswith("REFUSE")
        found.append(Row(symbol, int(version), is_implemented))
        if suffix:
            twin = symbol + suffix.lower()
            found.append(Row(twin, max(int(version), PER_THREAD_CUDA), is_implemented))
    return found
