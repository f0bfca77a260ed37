// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "program/library_state.hpp"
#include "stream/recent_launches.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/kernel.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cuprum::detail {

/// A kernel and its launch plan. A kernel found by name belongs to its library, and sharing it
/// shares the library. A kernel made from a handle keeps its library loaded itself.
struct KernelState {
    CUkernel handle = nullptr;
    const LaunchPlan* plan = nullptr;      // the library's, or own_plan
    LibraryState* home = nullptr;          // its library, if Cuprum loaded that
    LaunchName label;                      // the name once more, for streams to show
    std::string name;                      // as it was asked for
    std::shared_ptr<LibraryState> library; // null in the first case
    LaunchPlan own_plan;                   // of a kernel made elsewhere
    std::shared_ptr<void> owner;           // of a kernel made elsewhere

    /// Returns whether the kernel is known to allow so much dynamic shared memory on a device.
    [[nodiscard]] bool is_allowed(CUdevice device, std::size_t bytes) const noexcept {
        const std::uint64_t known = allowed_.load(std::memory_order_relaxed);
        return known >> DEVICE_SHIFT == device_key(device) && (known & SIZE_MASK) >= bytes;
    }

    void note_allowed(CUdevice device, std::size_t bytes) const noexcept {
        allowed_.store(device_key(device) << DEVICE_SHIFT | (bytes & SIZE_MASK),
                       std::memory_order_relaxed);
    }

    /// Forgets the limit, after it was set to something else.
    void forget_allowed() const noexcept { allowed_.store(0, std::memory_order_relaxed); }

private:
    static constexpr unsigned DEVICE_SHIFT = 32;
    static constexpr std::uint64_t SIZE_MASK = 0xffffffff;

    [[nodiscard]] static std::uint64_t device_key(CUdevice device) noexcept {
        return static_cast<std::uint32_t>(device) + std::uint64_t{1}; // 0 is "none known"
    }

    // The last device it was asked for, and the bytes allowed there.
    mutable std::atomic<std::uint64_t> allowed_{0};
};

/// Returns the state of a kernel, to use it.
/// @throws ClosedError if the kernel is closed.
[[nodiscard]] inline KernelState& open(const Kernel& kernel) {
    return open(Access::state(kernel), "Kernel");
}

/// Reads a kernel's parameters from the driver, and their kinds from its name in the code and from
/// its PTX, if there is any.
[[nodiscard]] LaunchPlan read_plan(CUkernel kernel, std::string_view symbol, std::string_view ptx);

} // namespace cuprum::detail
