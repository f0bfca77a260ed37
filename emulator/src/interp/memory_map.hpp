// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What of the address space kernels may touch.
//
// Device pointers are host addresses. Everything the emulated device owns lies in one reserved
// range, the window:  [ shared window | local window | device memory ... ]. The first two hold no
// memory: an address there is the generic form of a shared or local offset and is translated per
// block or per thread. Device memory is checked by granule: a byte per granule says whether
// anything in it is mapped, and for what. Addresses outside the window (registered host memory)
// take the slow path.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace cuprum::emulator {

namespace check {
class GlobalRaces;
}

/// What is checked beyond the granules; CUPRUM_EMULATOR_CHECK turns it on.
enum Checks : std::uint8_t {
    CHECK_MEMORY = 1,      // every access lies in one live allocation
    CHECK_INITIALIZED = 2, // what is read has been written
    CHECK_RACES = 4,       // conflicting accesses are ordered
    SHAKE = 128,           // no check: warps stop at random before they access memory
};

/// What a device may do with memory. The bits are what a granule's byte holds: loads test one,
/// stores the other, so that memory for reading only costs nothing more than any other.
enum class Permission : std::uint8_t { None = 0, Read = 1, ReadWrite = 3 };

constexpr std::uint8_t READ_BIT = 1;
constexpr std::uint8_t WRITE_BIT = 2;

/// A piece of memory that kernels may use as one.
struct MemoryRange {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    bool is_tracked = false; // it is known which of its bytes have been written
    bool is_heap = false;    // malloc of kernels hands it out in pieces
};

/// Describes the address space of one process; made by objects/, read by handlers.
struct MemoryMap {
    std::uint64_t window_base = 0;
    std::uint64_t window_bytes = 0;
    std::uint64_t shared_base = 0; // generic address of shared offset 0
    std::uint64_t shared_bytes = 0;
    std::uint64_t local_base = 0; // generic address of local offset 0
    std::uint64_t local_bytes = 0;
    std::uint64_t memory_base = 0; // device memory proper
    std::uint64_t memory_bytes = 0;
    std::uint32_t granule_shift = 16; // 64 KiB
    const std::atomic<std::uint8_t>* granules =
        nullptr; // of Permission; index (a - memory_base) >> shift

    /// Answers for a range that the granules do not settle: registered host memory, or a checker
    /// that knows the exact allocations. Returns whether the range may be read (or written).
    bool (*is_accessible)(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes,
                          bool is_write) = nullptr;
    /// Says in further lines what an address has to do with memory that was or is allocated, and
    /// why it must not be read (or written) where that was not allowed.
    std::string (*describe)(const MemoryMap& map, std::uint64_t address, bool is_write) = nullptr;
    std::uint8_t checks = 0; // of Checks; kernels are compiled for them

    // For the checks. Without `find` all mapped memory counts as one allocation.
    /// Finds the allocation that holds an address; false when there is none.
    bool (*find)(const MemoryMap& map, std::uint64_t address, MemoryRange& range) = nullptr;
    const std::atomic<std::uint64_t>* changes = nullptr; // counts changes of what `find` answers
    /// Per byte of device memory, whether it has been written; nullptr when that is not checked.
    std::atomic<std::uint8_t>* initialized = nullptr;
    check::GlobalRaces* races = nullptr; // what is known of accesses to device memory
    /// Takes findings that are not to stop the kernel; nullptr: they stop it.
    void (*report)(const std::string& text) = nullptr;
    void* owner = nullptr;

    /// Returns whether both ends of a range lie in granules that may be read (or written). Quick;
    /// errs on refusing ranges outside device memory, for which the caller asks `is_accessible`.
    [[nodiscard]] bool is_mapped(std::uint64_t first, std::uint64_t last, bool is_write) const {
        const std::uint64_t begin = first - memory_base;
        const std::uint64_t end = last - memory_base;
        const std::uint8_t wanted = is_write ? WRITE_BIT : READ_BIT;
        return begin < memory_bytes && end < memory_bytes &&
               (granules[begin >> granule_shift].load(std::memory_order_relaxed) & wanted) != 0 &&
               (granules[end >> granule_shift].load(std::memory_order_relaxed) & wanted) != 0;
    }
};

} // namespace cuprum::emulator
