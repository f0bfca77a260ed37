// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The addresses of the emulated devices.
//
// cuInit reserves one range of the process's address space, the window. It begins with the shared
// and local windows, which never hold memory. Device memory follows; every allocation of every
// device is a part of it. An allocation takes whole granules of 64 KiB. An inaccessible granule
// follows it, so that an access past its end is found. Freed addresses are not used again for a
// while, so that a use after free is found too.

#pragma once

#include "builtins/free_ranges.hpp"
#include "interp/memory_map.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cuprum::emulator {

/// Allocates ranges of device addresses.
class AddressSpace {
public:
    static constexpr std::uint64_t GRANULE_BYTES = std::uint64_t{1} << 16;

    /// Returns the process's address space, reserving it on first use; never destroyed.
    ///
    /// @throws DriverError OUT_OF_MEMORY if no range can be reserved.
    [[nodiscard]] static AddressSpace& instance();

    /// Returns the memory map that kernels and checkers of a device read. Each device has its own
    /// access rights.
    [[nodiscard]] MemoryMap& map(int device = 0) noexcept {
        return device == 0 ? map_ : *others_[static_cast<std::size_t>(device) - 1];
    }

    /// Makes one memory map for each device. Call it once, before the first allocation.
    void set_device_count(int count);

    /// Turns checks on and reserves their shadow memory. Call it before the first allocation.
    void enable_checks(std::uint8_t checks);

    /// Allocates a range of whole granules. The host can read and write it; kernels cannot access
    /// it yet. It holds zeros or old data. `alignment` is a power of two.
    [[nodiscard]] std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment = GRANULE_BYTES);

    /// Extends a range in place. Returns false if the addresses behind it are not free. The range
    /// and `more_bytes` are whole granules.
    [[nodiscard]] bool extend(std::uint64_t base, std::uint64_t bytes, std::uint64_t more_bytes);

    /// Frees a range. Its memory returns to the system at once. Its addresses rest for a while.
    void give_back(std::uint64_t base, std::uint64_t bytes) noexcept;

    /// Removes the access of all devices' kernels to a range.
    void close(std::uint64_t base, std::uint64_t bytes) noexcept;

    /// Sets what kernels of one device may do with a range.
    void set_permission(int device, std::uint64_t base, std::uint64_t bytes,
                        Permission permission) noexcept;

    [[nodiscard]] int device_count() const noexcept { return static_cast<int>(others_.size()) + 1; }

    /// Maps a part of a file at allocated addresses and replaces their contents. Throws MAP_FAILED.
    static void map_file(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset);

    /// Replaces a mapped file with ordinary empty memory.
    static void unmap_file(std::uint64_t base, std::uint64_t bytes) noexcept;

    /// Returns whether an address is in device memory, allocated or not.
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - map_.memory_base < map_.memory_bytes;
    }

private:
    AddressSpace();

    void grow_committed(std::uint64_t end);

    MemoryMap map_;                                    // of device 0
    std::vector<std::unique_ptr<MemoryMap>> others_;   // of the other devices
    std::vector<std::atomic<std::uint8_t>*> granules_; // by device
    std::atomic<std::uint64_t> permission_changes_{0};
    std::mutex mutex_;            // guards the members below
    std::uint64_t next_ = 0;      // addresses from here on were never used
    std::uint64_t committed_ = 0; // readable and writable up to here
    FreeRanges free_;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> resting_;
    std::uint64_t resting_bytes_ = 0;
};

} // namespace cuprum::emulator
