// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace cuprum::detail {

/// Checks the form of an architecture's name, such as "sm_90", "sm_90a" or "compute_100f". The
/// compiler reports names of this form that it does not support.
/// @throws std::invalid_argument that names the class `options`.
void check_arch(const char* options, const std::string& arch);

/// Returns the number and suffix of an architecture: "90a" of "sm_90a".
[[nodiscard]] std::string_view arch_number(std::string_view arch) noexcept;

} // namespace cuprum::detail
