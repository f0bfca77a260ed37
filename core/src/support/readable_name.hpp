// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::detail {

/// Returns a mangled name (Itanium C++ ABI) as its source has it, with parameters; empty for
/// others.
[[nodiscard]] std::string demangled(std::string_view symbol);

/// Returns the place of the parameters in a demangled name, npos if it has none.
[[nodiscard]] std::size_t parameters_at(std::string_view demangled) noexcept;

/// Returns the name of a kernel or variable as its source has it: demangled, without parameters,
/// and cut after 120 characters. "_Z5scaleIfEvPT_f" is "scale<float>". Other names stay as they
/// are.
[[nodiscard]] std::string readable_name(std::string_view symbol);

/// Returns a symbol with the types of its parameters: "_Z5twicefi" is "twice(float, int)". Other
/// names stay as they are.
[[nodiscard]] std::string readable_signature(std::string_view symbol);

} // namespace cuprum::detail
