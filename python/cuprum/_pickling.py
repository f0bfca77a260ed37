# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Functions that pickled objects name: compiled functions cannot be pickled themselves."""

from __future__ import annotations

from cuprum import _cuprum


def restore_object_code(
    code_type: str,
    code: bytes | str,
    name: str,
    symbol_mapping: dict[str, str],
    jit_options: dict[str, object] | None = None,
) -> _cuprum.ObjectCode:
    """Make an ObjectCode again from what it was pickled as."""
    factory = getattr(_cuprum.ObjectCode, f"from_{code_type}")
    return factory(code, name=name, symbol_mapping=symbol_mapping, jit_options=jit_options)


def restore_launch_config(fields: tuple, extras: dict[str, object]) -> _cuprum.LaunchConfig:
    """Make a LaunchConfig again from its common and its rarer fields."""
    return _cuprum.LaunchConfig(*fields, **extras)  # type: ignore[arg-type]
