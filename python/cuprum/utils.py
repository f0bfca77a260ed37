# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Views of memory, operations on many buffers at once, and caches of compiled programs."""

from __future__ import annotations

from cuprum._copy import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder
from cuprum._cuprum import (
    StridedLayout,
    StridedMemoryView,
    copy_batch,
    discard_batch,
    discard_prefetch_batch,
    prefetch_batch,
    register_host_memory,
)
from cuprum._program_cache import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
    set_default_program_cache,
)
from cuprum._public_names import public_names
from cuprum._views import args_viewable_as_strided_memory

__all__ = [
    "CopyOptions",
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ProgramCacheResource",
    "StridedLayout",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "make_program_cache_key",
    "prefetch_batch",
    "register_host_memory",
    "set_default_program_cache",
]

__dir__ = public_names(globals())
