// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The driver's side of the record: counters that cost one atomic addition each.

#pragma once

#include "interp/clock.hpp"
#include "usage/record.hpp"

#include <string>

namespace cuprum::emulator::usage {

namespace detail {
/// Never null: private memory until publish(), and after withdraw().
extern std::atomic<Record*> record;
/// The device of the machine that each ordinal is, plus 1; 0 if it is the one of that number.
extern std::array<std::atomic<std::uint8_t>, MAX_DEVICES> units;
} // namespace detail

/// Makes this process visible to other processes.
///
/// @returns an empty text, or why it stays invisible. The driver works in both cases.
[[nodiscard]] std::string publish(std::uint32_t device_count, std::uint32_t worker_count);

/// Removes the record of this process.
void withdraw() noexcept;

/// Leaves the record to the parent process. Only for the child's handler of fork().
void abandon_in_child() noexcept;

/// Records that a kernel failed, as an event of its device with an XID. Does nothing if the process
/// is not visible.
void report_failure(int device, std::uint64_t xid) noexcept;

/// Makes an ordinal of this process another one of the machine's devices: a checkpoint moves it.
inline void move_device(int ordinal, int unit) noexcept {
    detail::units[static_cast<std::size_t>(ordinal) % MAX_DEVICES].store(
        static_cast<std::uint8_t>(unit + 1), std::memory_order_relaxed);
}

/// Returns which of the machine's devices an ordinal of this process is.
[[nodiscard]] inline unsigned unit_of(int ordinal) noexcept {
    const auto number = static_cast<std::size_t>(ordinal) % MAX_DEVICES;
    const unsigned moved = detail::units[number].load(std::memory_order_relaxed);
    return moved == 0 ? static_cast<unsigned>(number) : moved - 1;
}

/// Returns the counters of a device of this process.
[[nodiscard]] inline DeviceRecord& device(int ordinal) noexcept {
    return detail::record.load(std::memory_order_relaxed)->devices[unit_of(ordinal)];
}

inline void add(Counter& counter, std::uint64_t amount) noexcept {
    counter.fetch_add(amount, std::memory_order_relaxed);
}

inline void subtract(Counter& counter, std::uint64_t amount) noexcept {
    counter.fetch_sub(amount, std::memory_order_relaxed);
}

/// Counts the time of its scope as a worker's work on a device's kernels.
class KernelTime {
public:
    KernelTime(int device, std::uint32_t worker) noexcept
        : device_(device), worker_(worker), begin_ns_(now_ns()) {
        slot().store((begin_ns_ << WORKER_DEVICE_BITS) | (unit_of(device) + 1),
                     std::memory_order_relaxed);
    }

    ~KernelTime() {
        slot().store(0, std::memory_order_relaxed);
        const std::uint64_t end_ns = now_ns();
        DeviceRecord& record = usage::device(device_);
        add(record.kernel_ns, end_ns - begin_ns_);
        record.kernels.add(begin_ns_, end_ns);
    }

    /// Returns when the scope began, in now_ns() time.
    [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }

    KernelTime(const KernelTime&) = delete;
    KernelTime& operator=(const KernelTime&) = delete;

private:
    [[nodiscard]] Counter& slot() const noexcept {
        return detail::record.load(std::memory_order_relaxed)->workers[worker_ % MAX_WORKERS];
    }

    int device_;
    std::uint32_t worker_;
    std::uint64_t begin_ns_;
};

/// Counts the time of its scope as an access to a device's memory.
class MemoryTime {
public:
    explicit MemoryTime(int device) noexcept : device_(device), begin_ns_(now_ns()) {}

    ~MemoryTime() {
        const std::uint64_t end_ns = now_ns();
        DeviceRecord& record = usage::device(device_);
        add(record.memory_ns, end_ns - begin_ns_);
        record.memory.add(begin_ns_, end_ns);
    }

    MemoryTime(const MemoryTime&) = delete;
    MemoryTime& operator=(const MemoryTime&) = delete;

private:
    int device_;
    std::uint64_t begin_ns_;
};

} // namespace cuprum::emulator::usage
