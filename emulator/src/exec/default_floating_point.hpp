// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

namespace cuprum::emulator::exec {

/// A scope in which the processor rounds to nearest, keeps subnormal numbers and raises no signals,
/// whatever the program has set for this thread. Kernels expect that.
class DefaultFloatingPoint {
public:
    DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
    DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

#if defined(__x86_64__)
    [[nodiscard]] DefaultFloatingPoint() noexcept : saved_(_mm_getcsr()) {
        constexpr unsigned after_reset = 0x1f80;
        _mm_setcsr(after_reset);
    }

    ~DefaultFloatingPoint() { _mm_setcsr(saved_); }

private:
    unsigned saved_;
#else
    [[nodiscard]] DefaultFloatingPoint() noexcept {
        fegetenv(&saved_);
        fesetenv(FE_DFL_ENV);
    }

    ~DefaultFloatingPoint() { fesetenv(&saved_); }

private:
    fenv_t saved_{};
#endif
};

} // namespace cuprum::emulator::exec
