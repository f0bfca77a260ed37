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

    started = multiprocessing.context.get_spawning_popen()
    try:
        # NOTE: allow_none=True, because the query would fix the start method forever.
        method = multiprocessing.get_start_method(allow_none=True)
    except RuntimeError:
        method = None
    if started is not None:  # a process is being started with the object as an argument
        method = started.method
        reason = f"the process is started with {method!r}"
    elif method is not None:
        reason = f"the start method of multiprocessing is {method!r}"
    else:
        is_linux = platform.system() == "Linux"  # the default depends on the version of Python
        method = multiprocessing.get_all_start_methods()[0] if is_linux else "spawn"
        reason = f"the start method of multiprocessing is not set, which means {method!r} here"
    if method == "fork":
        _was_told = True
        warnings.warn(
            f"{reason}: using CUDA in a forked process is undefined behavior; call "
            "multiprocessing.set_start_method('spawn') first",
            UserWarning,
            stacklevel=_user_level(),
        )


def _user_level() -> int:
    """Return the stack level of the caller outside of cuprum and multiprocessing."""
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
