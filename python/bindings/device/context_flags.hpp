// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context_settings.hpp>

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Returns the flags that keyword arguments name.
/// @throws TypeError for a flag that there is not.
[[nodiscard]] ContextFlags context_flags(const nanobind::kwargs& given);

/// Returns flags as cuprum._types.ContextFlags.
[[nodiscard]] nanobind::object context_flags_tuple(const ContextFlags& flags);

/// Returns what makes a Context current for a ``with`` block.
[[nodiscard]] nanobind::object current_context_guard(nanobind::handle context);

} // namespace cuprum::python
