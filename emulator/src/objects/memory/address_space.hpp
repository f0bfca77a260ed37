// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The addresses of the emulated devices.
//
// One range of the process's address space, the window, is reserved at cuInit: first the shared and
// local windows, where no memory ever is, then device memory, from which every allocation of every
// device is cut. An allocation takes whole granules of 64 KiB and is followed by an inaccessible
// one, so that running off its end is noticed. Addresses rest a while after they are given back,
// so that a use after free is noticed too.

#pragma once

#include "interp/memory_map.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cuprum::emulator {

/// Hands out ranges of device addresses.
class AddressSpace {
public:
    static constexpr std::uint64_t GRANULE_BYTES = std::uint64_t{1} << 16;

    /// Returns the process's address space, reserving it on first use; never destroyed.
    ///
    /// @throws DriverError OUT_OF_MEMORY if no range can be reserved.
    [[nodiscard]] static AddressSpace& instance();

    /// Returns what kernels and checkers of a device read. Devices differ in what they may touch.
    [[nodiscard]] MemoryMap& map(int device = 0) noexcept {
        return device == 0 ? map_ : *others_[static_cast<std::size_t>(device) - 1];
    }

    /// Makes room for what each of several devices may touch; once, before any memory is taken.
    void set_device_count(int count);

    /// Turns checks on: makes room for what they remember of device memory. Before the first
    /// allocation.
    void enable_checks(std::uint8_t checks);

    /// Takes a range of whole granules, readable and writable, zero or stale inside, not yet
    /// accessible to kernels. `alignment` is a power of two.
    [[nodiscard]] std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment = GRANULE_BYTES);

    /// Lengthens a range that was taken, where it lies; false if the addresses behind it are not
    /// free. `more_bytes` are whole granules, and so is the range.
    [[nodiscard]] bool extend(std::uint64_t base, std::uint64_t bytes, std::uint64_t more_bytes);

    /// Gives a range back: its memory is returned to the system at once, its addresses rest.
    void give_back(std::uint64_t base, std::uint64_t bytes) noexcept;

    /// Keeps kernels of all devices from touching a range.
    void close(std::uint64_t base, std::uint64_t bytes) noexcept;

    /// Says what kernels of one device may do with a range.
    void set_permission(int device, std::uint64_t base, std::uint64_t bytes,
                        Permission permission) noexcept;

    [[nodiscard]] int device_count() const noexcept { return static_cast<int>(others_.size()) + 1; }

    /// Puts a part of a file behind addresses that were taken; throws MAP_FAILED. What was there
    /// is gone.
    static void map_file(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset);

    /// Puts ordinary, empty memory back where a file was mapped, as the rest of the window has it.
    static void unmap_file(std::uint64_t base, std::uint64_t bytes) noexcept;

    /// Returns whether an address lies in device memory, allocated or not.
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - map_.memory_base < map_.memory_bytes;
    }

private:
    AddressSpace();

    [[nodiscard]] std::uint64_t take_from_free(std::uint64_t bytes, std::uint64_t alignment);
    void grow_committed(std::uint64_t end);
    void put_free(std::uint64_t base, std::uint64_t bytes);

    MemoryMap map_;                                    // of device 0
    std::vector<std::unique_ptr<MemoryMap>> others_;   // of the devices after it
    std::vector<std::atomic<std::uint8_t>*> granules_; // by device
    std::mutex mutex_;                                 // of what follows
    std::uint64_t next_ = 0;                           // nothing was ever taken from here on
    std::uint64_t committed_ = 0;                      // readable and writable up to here
    std::map<std::uint64_t, std::uint64_t> free_;      // base to bytes, never adjacent
    std::deque<std::pair<std::uint64_t, std::uint64_t>> resting_;
    std::uint64_t resting_bytes_ = 0;
};

} // namespace cuprum::emulator
