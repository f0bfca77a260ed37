// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context_settings.hpp>

namespace cuprum::detail {

/// Returns the flags as the driver's CUctx_flags.
[[nodiscard]] unsigned flag_bits(const ContextFlags& flags) noexcept;

/// Reads the driver's CUctx_flags.
[[nodiscard]] ContextFlags flags_from_bits(unsigned bits) noexcept;

} // namespace cuprum::detail
