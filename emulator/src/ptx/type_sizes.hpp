// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

namespace cuprum::emulator::ptx {

/// Returns the size of a type in bits (1 for predicates).
[[nodiscard]] constexpr unsigned bits_of(Type type) noexcept {
    switch (type) {
    case Type::Pred:
        return 1;
    case Type::B8:
    case Type::U8:
    case Type::S8:
        return 8;
    case Type::B16:
    case Type::U16:
    case Type::S16:
    case Type::F16:
    case Type::BF16:
        return 16;
    case Type::B64:
    case Type::U64:
    case Type::S64:
    case Type::F64:
        return 64;
    case Type::B128:
        return 128;
    default:
        return 32;
    }
}

[[nodiscard]] constexpr bool is_signed(Type type) noexcept {
    return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}

} // namespace cuprum::emulator::ptx
