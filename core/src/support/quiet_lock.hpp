// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/warn.hpp"

#include <mutex>

namespace cuprum::detail {

/// Locks a mutex for a scope in which the driver is called, or anything else that may warn. The
/// warnings of the scope are sent once the mutex is free: their handler may run code of the
/// program, which may need the same mutex or hold another one.
class QuietLock {
public:
    [[nodiscard]] explicit QuietLock(std::mutex& mutex) : lock_(mutex) {}

    /// Frees the mutex before the scope ends.
    void unlock() { lock_.unlock(); }

private:
    LateWarnings warnings_; // destroyed after the lock
    std::unique_lock<std::mutex> lock_;
};

} // namespace cuprum::detail
