// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Rounds to the nearest integer, and halves to the even one.
[[gnu::always_inline]] inline double round_to_even(double value) {
#if __has_builtin(__builtin_roundeven)
    return __builtin_roundeven(value);
#else
    return __builtin_elementwise_roundeven(value); // clang 16
#endif
}

[[gnu::always_inline]] inline float round_to_even(float value) {
#if __has_builtin(__builtin_roundevenf)
    return __builtin_roundevenf(value);
#else
    return __builtin_elementwise_roundeven(value);
#endif
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
