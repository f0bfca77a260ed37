// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What handlers need to call operations/floats.hpp with vectors of doubles.

#pragma once

#include "interp/handlers/float_common.hpp"
#include "operations/floats.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

using namespace operations; // NOLINT(google-build-using-namespace): their one user

/// A vector that has as many lanes as a hardware vector of doubles.
template <typename T>
struct NarrowOf {
    typedef T Value __attribute__((vector_size(sizeof(T) * LANES<double>)));
    typedef T Memory __attribute__((vector_size(sizeof(T) * LANES<double>), aligned(4), may_alias));
};

template <typename T>
using Narrow = typename NarrowOf<T>::Value;

/// Returns the same bits as another type.
template <typename To, typename From>
[[gnu::always_inline]] inline To cast(From value) {
    return __builtin_bit_cast(To, value);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
