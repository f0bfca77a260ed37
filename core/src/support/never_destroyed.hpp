// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <new>
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

} // namespace cuprum::detail
