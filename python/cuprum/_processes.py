# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What to watch for when objects go to other processes."""

from __future__ import annotations

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
            stacklevel=3,
        )


def reset_fork_warning() -> None:
    """Let the next check warn again."""
    global _was_told
    _was_told = False
