// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace cuprum::emulator {

/// Which devices may access memory of other devices (cuCtxEnablePeerAccess).
///
/// CUDA enables access between contexts. Kernels are checked between devices.
class PeerAccess {
public:
    /// Returns the process's table; never destroyed.
    [[nodiscard]] static PeerAccess& instance();

    /// Lets kernels of device `from` access memory of device `to`. Calls are counted.
    void enable(int from, int to);

    /// Undoes one enable().
    void disable(int from, int to);

    [[nodiscard]] bool is_enabled(int from, int to) const;

    /// Returns whether any device may access memory of another one, or might. Cheap.
    [[nodiscard]] bool is_any() const noexcept {
        return enabled_.load(std::memory_order_relaxed) != 0;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::pair<int, int>, std::uint32_t> counts_;
    std::atomic<std::uint32_t> enabled_{0}; // all counts together
};

} // namespace cuprum::emulator
