# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What `dir()` and completion show of a public module."""

from __future__ import annotations

from collections.abc import Callable


def public_names(module: dict[str, object]) -> Callable[[], list[str]]:
    """Return a `__dir__` that shows a module's `__all__` and no imports."""

    def names() -> list[str]:
        public = module["__all__"]
        assert isinstance(public, list)
        return sorted({*public, *(name for name in module if name.startswith("__"))})

    return names
