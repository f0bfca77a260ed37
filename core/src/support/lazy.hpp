// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/quiet_lock.hpp"

#include <atomic>
#include <mutex>
#include <optional>

namespace cuprum::detail {

/// Holds a value that is made on first use, by one thread; a failure to make it is tried again.
/// Reading it afterwards takes no lock.
template <typename T>
class Lazy {
public:
    /// Returns the value, made by `make()` if there is none yet.
    template <typename Make>
    const T& get(Make&& make) {
        if (!is_made_.load(std::memory_order_acquire)) [[unlikely]] {
            const QuietLock lock(mutex_); // making it may warn
            if (!is_made_.load(std::memory_order_relaxed)) {
                value_.emplace(make());
                is_made_.store(true, std::memory_order_release);
            }
        }
        return *value_;
    }

    /// Returns the value if it was made already, else null.
    [[nodiscard]] const T* peek() const noexcept {
        return is_made_.load(std::memory_order_acquire) ? &*value_ : nullptr;
    }

private:
    std::atomic<bool> is_made_{false}; // next to the value: both are read every time
    std::optional<T> value_;
    std::mutex mutex_;
};

} // namespace cuprum::detail
