# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Colours, which only a terminal gets."""

from __future__ import annotations

import os
from typing import IO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class Style:
    """Text in colours for one stream; plain text if the stream takes none.

    Parameters
    ----------
    stream : file
        Where the text goes. Colours need a terminal, a TERM other than ``dumb``, and no NO_COLOR.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.is_coloured = (
            stream.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM", "dumb") != "dumb"
        )

    def __call__(self, text: str, *names: str) -> str:
        """Return the text in colours: of ``bold``, ``dim``, ``red``, ``green``, ``yellow``."""
        if not self.is_coloured or not names:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"
