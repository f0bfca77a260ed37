// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/streams/operation.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

/// Stops work on device memory while the memory at an address is being replaced.
///
/// Everything that accesses device memory enters before it starts and leaves when it is done. Both
/// cost one atomic addition while the gate is open.
class MemoryGate {
public:
    /// Returns the process's gate; never destroyed.
    [[nodiscard]] static MemoryGate& instance();

    /// Lets an operation start. Returns false if the gate is closed; the gate starts it later.
    [[nodiscard]] bool enter(const std::shared_ptr<Operation>& operation);

    /// Marks an operation that entered as done.
    void leave() noexcept { inside_.fetch_sub(1); }

    /// Waits until nothing is running, then runs `work` while nothing else can start.
    ///
    /// @throws DriverError NOT_READY if something is still running after `longest`.
    void run_alone(const std::function<void()>& work, std::chrono::milliseconds longest);

private:
    MemoryGate() = default;

    void open();

    std::atomic<std::uint64_t> inside_{0};
    std::atomic<bool> is_closed_{false};
    std::mutex closing_mutex_; // one thread closes the gate at a time
    std::mutex mutex_;         // guards the members below, and is_closed_ becoming false
    std::vector<std::shared_ptr<Operation>> waiting_;
};

} // namespace cuprum::emulator
