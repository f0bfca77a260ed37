// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace cuprum::emulator {

/// The sticky error of one context. The first fault sets it; every later call returns it.
class ErrorState {
public:
    /// Records an error and its description, unless there is one already. Returns whether it was
    /// the first.
    bool set(CUresult code, std::string report = {}) noexcept {
        const std::lock_guard lock(mutex_);
        if (get() != CUDA_SUCCESS) {
            return false;
        }
        report_ = std::move(report);
        code_.store(code, std::memory_order_release);
        return true;
    }

    [[nodiscard]] CUresult get() const noexcept { return code_.load(std::memory_order_acquire); }

    /// Returns the description of the error. Empty if there is no error or no description.
    [[nodiscard]] std::string report() const {
        const std::lock_guard lock(mutex_);
        return report_;
    }

private:
    std::atomic<CUresult> code_{CUDA_SUCCESS};
    mutable std::mutex mutex_;
    std::string report_;
};

} // namespace cuprum::emulator
