// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a process publishes about its use of the emulated devices, so that other processes can see
// it through the emulated NVML.
//
// Every process with an initialised driver has one file in the runtime folder. It maps the file and
// updates it with atomics. Readers never map it: they copy it with pread, so a damaged or shortened
// file cannot crash them. The writer holds an exclusive flock for as long as it lives. A file
// without a lock belongs to a process that is gone, and any reader may remove it.
//
//     folder (0700)
//     ├── process-<pid>-<random>    one Record per live process, written by it alone
//     └── board                     events of failed kernels, and what NVML's setters have set

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuprum::emulator::usage {

inline constexpr std::uint64_t RECORD_MAGIC = 0x4741535550435543; // "CUPUSAGC"
inline constexpr std::uint32_t RECORD_VERSION = 1;
inline constexpr std::size_t MAX_DEVICES = 64;
inline constexpr std::size_t MAX_WORKERS = 1024;

/// The history of busy time consists of slots of this length; readers see the last 15 or 16.
inline constexpr unsigned SLOT_SHIFT = 26; // 67 ms
inline constexpr std::uint64_t SLOT_NS = std::uint64_t{1} << SLOT_SHIFT;
inline constexpr std::size_t SLOT_COUNT = 16;

inline constexpr std::uint64_t BUSY_UNIT_NS = 64;

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free && sizeof(Counter) == sizeof(std::uint64_t));

/// How long threads were busy, by slot of time.
///
/// A slot holds the number of its period in the upper 32 bits and the time, in units of
/// BUSY_UNIT_NS, in the lower ones: enough for a thousand threads. The first who adds time to a new
/// period replaces what the slot held before.
struct History {
    std::array<Counter, SLOT_COUNT> slots;

    /// Adds the time of one thread from `begin_ns` to `end_ns` of the monotonic clock.
    void add(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept;
};

/// What one process does with one device.
struct alignas(64) DeviceRecord {
    Counter used_bytes;
    Counter context_count;
    Counter kernel_ns; // time of all workers together
    Counter memory_ns; // time of large copies and fills
    Counter host_to_device_bytes;
    Counter device_to_host_bytes;
    Counter unused[2];
    History kernels;
    History memory;
};

/// One file. The header never changes after the file has its name.
struct Record {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t bytes;       // sizeof(Record)
    std::uint64_t start_ticks; // when the process started, field 22 of /proc/<pid>/stat
    std::int32_t pid;
    std::uint32_t device_count;
    std::uint32_t worker_count;
    std::uint32_t unused[7];
    std::array<DeviceRecord, MAX_DEVICES> devices;
    /// What each worker runs now: the time at which it began, shifted left by 8, plus the number of
    /// the device and 1; 0 if it is idle.
    std::array<Counter, MAX_WORKERS> workers;
};

static_assert(offsetof(Record, devices) == 64);
static_assert(sizeof(DeviceRecord) == 320 && sizeof(Record) == 64 + 64 * 320 + 8192);

inline constexpr unsigned WORKER_DEVICE_BITS = 8;

} // namespace cuprum::emulator::usage
