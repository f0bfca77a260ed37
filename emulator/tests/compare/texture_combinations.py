# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Every shape with every format, filter, address mode, kind of coordinates and read mode.

The other cases take a part of these with more threads, and further sizes and instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from images import FORMATS, MODES, Sampling

COUNT = 96  # threads
BORDER = (0.25, -1.5, 2.0, 0.7)
SIZES = {
    "1d": (37,),
    "2d": (20, 12),
    "3d": (8, 4, 5),
    "a1d": (37, 5),
    "a2d": (20, 12, 4),
    "cube": (8, 8),
    "acube": (8, 8, 2),
}
# Arrays of compressed formats are planes, and slices of planes.
COMPRESSED_SHAPES = ("2d", "a2d", "cube", "acube")
CHANNELS = {"u8": 4, "u16": 1, "u32": 2, "s8": 1, "s16": 4, "s32": 1, "f16": 4, "f32": 2}
WHOLE = ("u32", "s32")  # they are never filtered
SMALL = ("u8", "u16", "s8", "s16")  # they are read as integers or as fractions


def combinations() -> Iterator[tuple[str, str, int, tuple[int, ...], Sampling]]:
    """Yield shape, format, channels, size and sampling of every combination."""
    for (shape, size), name in product(SIZES.items(), FORMATS):
        if name.startswith("bc") and shape not in COMPRESSED_SHAPES:
            continue
        channels = FORMATS[name][2] or CHANNELS[name]
        for filter_, mode, is_normalized, reads_integers in product(
            ("point", "linear"), MODES, (False, True), (False, True)
        ):
            if reads_integers and (name not in SMALL or filter_ == "linear"):
                continue
            if name in WHOLE and filter_ == "linear":
                continue
            sampling = Sampling(
                filter_, (mode,), is_normalized, reads_integers=reads_integers, border=BORDER
            )
            yield shape, name, channels, size, sampling
