// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>

namespace cuprum::detail {

/// Holds what most objects do without: one pointer until it is asked for. Unlike Lazy it has no
/// lock: threads that come at once may all make the value, and one of them is kept.
template <typename T>
class OnDemand {
public:
    OnDemand() = default;

    ~OnDemand() {
        if (const T* made = value_.load(std::memory_order_relaxed)) [[unlikely]] {
            delete made;
        }
    }

    OnDemand(const OnDemand&) = delete;
    OnDemand& operator=(const OnDemand&) = delete;

    /// Returns the value, made by `make()`, which returns a std::unique_ptr, if there is none yet.
    template <typename Make>
    T& get(const Make& make) {
        if (T* const made = peek()) {
            return *made;
        }
        std::unique_ptr<T> own = make();
        T* first = nullptr; // another thread may have been faster
        if (value_.compare_exchange_strong(first, own.get(), std::memory_order_acq_rel)) {
            first = own.release();
        }
        return *first;
    }

    /// The same, made with no arguments.
    T& get() {
        return get([] { return std::make_unique<T>(); });
    }

    /// Returns the value if it was made already, else null.
    [[nodiscard]] T* peek() const noexcept { return value_.load(std::memory_order_acquire); }

    /// Takes the value of another one, if it has any; this one has none yet.
    void take(OnDemand& other) noexcept {
        value_.store(other.value_.exchange(nullptr, std::memory_order_acq_rel),
                     std::memory_order_release);
    }

private:
    std::atomic<T*> value_ = nullptr;
};

} // namespace cuprum::detail
