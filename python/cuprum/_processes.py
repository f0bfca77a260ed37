# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What to watch for when objects go to other processes."""

from __future__ import annotations

import os
import sys
import warnings

_was_told = False


def check_multiprocessing_start_method() -> None:
    """Warn, once per process, if ``multiprocessing`` forks: CUDA does not survive that.

    Called when an object is sent to another process.
    """
    global _was_told
    if _was_told:
        return
    import multiprocessing
    import platform

    try:
        method = multiprocessing.get_start_method()
        is_fork = method == "fork"
        reason = "the start method of multiprocessing is 'fork'"
    except RuntimeError:
        is_fork = platform.system() == "Linux"
        reason = "the start method of multiprocessing is not set, which means 'fork' on Linux"
    if is_fork:
        _was_told = True
        warnings.warn(
            f"{reason}: using CUDA in a forked process is undefined behavior; call "
            "multiprocessing.set_start_method('spawn') first",
            UserWarning,
            stacklevel=_user_level(),
        )


def _user_level() -> int:
    """Return the level of the code that sends the object: below ours and multiprocessing's."""
    folders = tuple(
        os.path.dirname(os.path.abspath(module.__file__ or ""))
        for module in (sys.modules["cuprum"], sys.modules["multiprocessing"])
    )
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folders):
        frame = frame.f_back
        level += 1
    return level


def reset_fork_warning() -> None:
    """Let the next check warn again."""
    global _was_told
    _was_told = False
