# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Views of memory that other libraries own."""

from __future__ import annotations

from cuprum._cuprum import StridedLayout, StridedMemoryView
from cuprum._views import args_viewable_as_strided_memory

__all__ = ["StridedLayout", "StridedMemoryView", "args_viewable_as_strided_memory"]
