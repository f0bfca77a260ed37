# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write pictures without other packages: PNG from pixels, SVG from the text of a terminal."""

import html
import struct
import zlib
from pathlib import Path

_CHARACTER_PIXELS = 7.25
_LINE_PIXELS = 17
_MARGIN_PIXELS = 14


def write_png(path, pixels):
    """Write an array of shape (height, width, 3) with values from 0 to 255."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def write_terminal(path, text, marks=()):
    """Write text as an SVG that looks like a terminal. Lines with one of the marks are bright."""
    lines = text.rstrip().split("\n")
    width = max(map(len, lines)) * _CHARACTER_PIXELS + 2 * _MARGIN_PIXELS
    height = len(lines) * _LINE_PIXELS + 2 * _MARGIN_PIXELS
    shapes = []
    for number, line in enumerate(lines):
        y = _MARGIN_PIXELS + (number + 0.75) * _LINE_PIXELS
        colour = "#ffb454" if any(mark in line for mark in marks) else "#d5dae2"
        shapes.append(
            f'<text x="{_MARGIN_PIXELS}" y="{y:.1f}" fill="{colour}" xml:space="preserve">'
            f"{html.escape(line)}</text>"
        )
    Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="12">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1c2128"/>\n'
        + "\n".join(shapes)
        + "\n</svg>\n",
        encoding="utf-8",
    )
