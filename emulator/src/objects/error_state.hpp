// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <atomic>

namespace cuprum::emulator {

/// The sticky error of one context: set by the first fault, returned by every later call.
class ErrorState {
public:
    /// Records an error unless there is one already. Returns whether it was the first.
    bool set(CUresult code) noexcept {
        CUresult expected = CUDA_SUCCESS;
        return code_.compare_exchange_strong(expected, code, std::memory_order_acq_rel);
    }

    [[nodiscard]] CUresult get() const noexcept { return code_.load(std::memory_order_acquire); }

private:
    std::atomic<CUresult> code_{CUDA_SUCCESS};
};

} // namespace cuprum::emulator
