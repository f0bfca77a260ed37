// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace cuprum::detail {

/// Checks that this is the name of an architecture in form, such as "sm_90", "sm_90a" or
/// "compute_100f". Which there are, the compiler says itself.
/// @throws std::invalid_argument that names the option of `options`, its class.
void check_arch(const char* options, const std::string& arch);

/// Returns the number and suffix of an architecture: "90a" of "sm_90a".
[[nodiscard]] std::string_view arch_number(std::string_view arch) noexcept;

} // namespace cuprum::detail
