// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cuprum::detail {

/// What the compiler knows about a kernel argument.
struct ArgumentType {
    /// Kinds that can conflict with a parameter are bits, so that a launch tests them at once.
    enum Kind : std::uint8_t { Other = 0, Integer = 1, Floating = 2 };

    std::size_t size = 0; // bytes
    Kind kind = Other;
    bool is_signed = false;
};

template <typename T>
constexpr ArgumentType ARGUMENT_TYPE{
    sizeof(T),
    std::is_integral_v<T>         ? ArgumentType::Integer
    : std::is_floating_point_v<T> ? ArgumentType::Floating
                                  : ArgumentType::Other,
    std::is_signed_v<T>,
};

} // namespace cuprum::detail
