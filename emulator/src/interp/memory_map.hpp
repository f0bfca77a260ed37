// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The part of the address space that kernels may access.
//
// Device pointers are host addresses. Everything that the emulated device owns lies in one reserved
// range, the window:  [ shared window | local window | device memory ... ]. The first two hold no
// memory. An address there is the generic form of a shared or local offset and is translated per
// block or thread. Device memory is checked by granule: one byte per granule holds its permissions,
// which are none if nothing in it is mapped. Addresses outside the window (registered host memory)
// take the slow path.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace cuprum::emulator {

namespace check {
class GlobalRaces;
}

/// Optional checks beyond the granules, enabled by CUPRUM_EMULATOR_CHECK.
enum Checks : std::uint8_t {
    CHECK_MEMORY = 1,      // every access lies in one live allocation
    CHECK_INITIALIZED = 2, // what is read has been written
    CHECK_RACES = 4,       // conflicting accesses are ordered
    CHECK_GRAPHS = 8,      // nodes of a graph that use the same memory are ordered
    SHAKE = 128,           // not a check: warps stop at random before they access memory
};

/// What a device may do with memory. A granule's byte holds these bits: loads test one bit and
/// stores the other, so read-only memory costs nothing extra.
enum class Permission : std::uint8_t { None = 0, Read = 1, ReadWrite = 3 };

constexpr std::uint8_t READ_BIT = 1;
constexpr std::uint8_t WRITE_BIT = 2;

/// A contiguous range of memory that kernels may use as a whole.
struct MemoryRange {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    bool is_tracked = false; // the flags of its written bytes are maintained
    bool is_heap = false;    // malloc in kernels allocates from it
};

/// The address space of the process. objects/ creates it and handlers read it.
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

    // Counts the changes to the permissions of granules.
    const std::atomic<std::uint64_t>* permission_changes = nullptr;

    /// Decides about a range that the granules do not cover: registered host memory, or exact
    /// allocations for a checker. Returns whether the range may be read (or written).
    bool (*is_accessible)(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes,
                          bool is_write) = nullptr;
    /// Describes in further lines how an address relates to memory that is or was allocated. If the
    /// access is not permitted, it also explains why.
    std::string (*describe)(const MemoryMap& map, std::uint64_t address, bool is_write) = nullptr;
    std::uint8_t checks = 0; // of Checks; kernels are compiled for them

    // For the checks. Without `find`, all mapped memory counts as one allocation.
    /// Finds the allocation that contains an address. Returns false if there is none.
    bool (*find)(const MemoryMap& map, std::uint64_t address, MemoryRange& range) = nullptr;
    const std::atomic<std::uint64_t>* changes = nullptr; // counts changes to the results of `find`
    /// One flag byte per byte of device memory, set once written; nullptr if that is not checked.
    std::atomic<std::uint8_t>* initialized = nullptr;
    check::GlobalRaces* races = nullptr; // the record of accesses to device memory
    /// Receives findings that do not stop the kernel. If nullptr, findings stop it.
    void (*report)(const std::string& text) = nullptr;
    void* owner = nullptr;

    /// Returns whether both ends of a range lie in granules that may be read (or written). This is
    /// quick, but refuses all ranges outside device memory. For these, call `is_accessible`.
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
