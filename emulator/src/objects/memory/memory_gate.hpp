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

/// Keeps work on device memory away while the memory behind an address is being replaced.
///
/// Everything that touches device memory enters before it starts and leaves when it is done; both
/// cost one atomic addition while no one closes the gate.
class MemoryGate {
public:
    /// Returns the process's gate; never destroyed.
    [[nodiscard]] static MemoryGate& instance();

    /// Lets an operation start; false if the gate is closed, which will start it later.
    [[nodiscard]] bool enter(const std::shared_ptr<Operation>& operation);

    /// Says that an operation which entered is done.
    void leave() noexcept { inside_.fetch_sub(1); }

    /// Waits until nothing is running, then does `work` while nothing starts.
    ///
    /// @throws DriverError NOT_READY if something is still running after `longest`.
    void run_alone(const std::function<void()>& work, std::chrono::milliseconds longest);

private:
    MemoryGate() = default;

    void open();

    std::atomic<std::uint64_t> inside_{0};
    std::atomic<bool> is_closed_{false};
    std::mutex closing_mutex_; // one closes it at a time
    std::mutex mutex_;         // of what follows, and of is_closed_ becoming false
    std::vector<std::shared_ptr<Operation>> waiting_;
};

} // namespace cuprum::emulator
