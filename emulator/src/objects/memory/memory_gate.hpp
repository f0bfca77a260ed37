// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <shared_mutex>

namespace cuprum::emulator {

/// Stops work on device memory while the memory at an address is being replaced.
///
/// Kernels run on the engine's workers, which stop where they stand. Copies and fills, which may
/// run on any thread, pass the gate.
class MemoryGate {
public:
    /// Returns the process's gate; never destroyed.
    [[nodiscard]] static MemoryGate& instance();

    /// Lets the calling thread access device memory while the result lives: briefly, without
    /// waiting for anything else.
    [[nodiscard]] std::shared_lock<std::shared_mutex> pass() { return std::shared_lock(mutex_); }

    /// Runs `work` while nothing accesses device memory. Kernels that run continue afterwards.
    ///
    /// @throws DriverError NOT_READY if a kernel does not stop within `longest`.
    void run_alone(const std::function<void()>& work, std::chrono::milliseconds longest);

private:
    MemoryGate() = default;

    std::mutex closing_mutex_; // one thread closes the gate at a time
    std::shared_mutex mutex_;
};

} // namespace cuprum::emulator
