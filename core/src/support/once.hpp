// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/locks.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace cuprum::detail {

/// A value that is constructed but never destroyed, for static storage.
///
/// Destructors of static objects, threads that still run and exit handlers use the library's state
/// after main() has returned. Write `static NeverDestroyed<T> only;` inside a function that returns
/// `*only`: the first call constructs it, and it stays usable until the process ends.
template <typename T>
class NeverDestroyed {
public:
    template <typename... Args>
    explicit NeverDestroyed(Args&&... args) : value_(std::forward<Args>(args)...) {}

    NeverDestroyed(const NeverDestroyed&) = delete;
    NeverDestroyed& operator=(const NeverDestroyed&) = delete;

    ~NeverDestroyed() {} // NOLINT(modernize-use-equals-default): the union's member stays

    [[nodiscard]] T& operator*() noexcept { return value_; }

    [[nodiscard]] T* operator->() noexcept { return &value_; }

private:
    union {
        T value_;
    };
};

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
